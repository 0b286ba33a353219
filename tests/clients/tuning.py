"""The tests of a hyper-parameter that is changed between two trainings, the same for all who train:
train, change it and train on, go back to what was and train on from there.

Each training is a new process. What expfs tells is compared with what the trainer left and with
what PyYAML and json make of the configuration.
"""

import hashlib
import json
import os
from pathlib import Path

import yaml

from client import after_remount, digest, equal, expfs, run, test, view

NOTHING = {"components": [], "hash": None}  # is pending


def hp_segment(path):
    values = {"auditor_mode": False} | yaml.safe_load(path.read_text())
    return hashlib.sha256(json.dumps(values, sort_keys=True, default=str).encode()).hexdigest()[:8]


class Story:
    """A run, and what was noted of it at each point, which a later process reads again."""

    def __init__(self, top, name):
        self.top, self.name, self.run = top, name, top / "runs" / name
        self.branch = view(top, "branches") / name
        self.notes = top / f"{name}.notes"
        self.noted = json.loads(self.notes.read_text()) if self.notes.exists() else {}

    def note(self, **found):
        self.notes.write_text(json.dumps(self.noted | found))

    def log(self):
        return expfs(self.top, "log", self.name)

    def experiments(self):
        return {entry["hash"]: entry for entry in self.log()["experiments"]}

    def at(self):
        """The branch's head and what is pending, of which status, log and the view tell the same."""
        [branch] = [found for found in expfs(self.top, "status")["branches"] if found["name"] == self.name]
        [logged] = self.log()["branches"]
        head, pending = branch["head"], branch["pending"]
        equal((logged["head"], logged["pending"]), (head, pending))
        equal((self.branch / "HEAD").read_text(), f"{head}\n")
        equal(((self.branch / "pending").read_text().split() or [None])[-1], pending["hash"])
        return head, pending

    def latest(self):
        return (self.branch / "latest").resolve()

    def of(self, experiment):
        """The newest checkpoint of an experiment."""
        return (self.top / "experiments" / experiment / "latest").resolve()

    def check_kept(self, path, content):
        """A path held the content, and its history has it."""
        history = self.top / ".expfs" / "history" / Path(path).relative_to(self.top)
        kept = [digest(version) for version in history.iterdir()]
        assert content in kept, f"{content} is not in {kept}"

    def check_steps(self, experiment, steps):
        if steps is not None:
            equal(self.experiments()[experiment]["steps"], steps)

    def check_latest(self, path, experiment):
        """The branch's newest checkpoint is the one in the run, which belongs to the experiment."""
        equal(self.latest(), path)
        equal(self.of(experiment), path)
        equal(os.getxattr(path, "user.expfs.hash").decode(), experiment)


def tuning(name, hp, train, old, new):
    """Registers the tests.

    hp(run): the configuration that counts. train(run, checkpoint): trains on from a checkpoint, or from the
    start (None), in a new process, and returns the newest checkpoint and the steps of those it left there (None:
    their names tell none). old, new: what an editor replaces in the configuration, and by what, to have a lower
    learning rate.
    """

    @test("a training makes one experiment, named by its configuration, of which the branch's latest is a checkpoint")
    def first(top):
        story = Story(top, name)
        path, steps = train(story.run, None)
        head, pending = story.at()
        equal(pending, NOTHING)
        [experiment] = story.experiments().values()
        equal((experiment["hash"], experiment["parent"]), (head, None))
        equal(head[:8], hp_segment(hp(story.run)))
        story.check_steps(head, steps)
        story.check_latest(path, head)
        story.note(first=head, hp=str(hp(story.run)), hp_content=digest(hp(story.run)),
                   checkpoint=str(path), content=digest(path), step=steps and steps[-1])

    @test("a changed hyper-parameter is pending, and leaves experiments and latest as they are")
    def edited(top):
        story = Story(top, name)
        before, path = story.experiments(), hp(story.run)
        text = path.read_text()
        equal(text.count(old), 1)
        path.write_text(text.replace(old, new))
        head, pending = story.at()
        equal(head, story.noted["first"])
        equal(pending, {"components": ["HP"], "hash": hp_segment(path) + head[8:]})
        equal(story.experiments(), before)
        story.check_latest(Path(story.noted["checkpoint"]), head)
        story.note(second=pending["hash"])

    @test("trained on, it is the experiment that was pending, and the old one is its parent")
    def second(top):
        story = Story(top, name)
        path, steps = train(story.run, story.latest())
        equal(story.at(), (story.noted["second"], NOTHING))
        experiments = story.experiments()
        equal(experiments.keys(), {story.noted["first"], story.noted["second"]})
        experiment = experiments[story.noted["second"]]
        equal((experiment["parent"], experiment["changed"]), (story.noted["first"], ["HP"]))
        [change] = experiment["hp"]
        assert float(change["from"]) > float(change["to"]), change
        story.check_steps(story.noted["second"], steps)
        story.check_latest(path, story.noted["second"])
        story.note(second_checkpoint=str(path), second_content=digest(path))

    @test("loading the old experiment brings its configuration and its checkpoint back, bit for bit")
    def loaded(top):
        story = Story(top, name)
        state = story.noted["first"]
        if not os.path.lexists(story.noted["checkpoint"]):  # what the trainer took away is to be named
            state += f"@{story.noted['step']}"
        run(os.environ["EXPFS"], "load", state, name, cwd=top)
        equal(str(hp(story.run)), story.noted["hp"])
        equal(digest(hp(story.run)), story.noted["hp_content"])
        equal(digest(Path(story.noted["checkpoint"])), story.noted["content"])
        equal(story.at(), (story.noted["first"], NOTHING))
        equal(story.experiments().keys(), {story.noted["first"], story.noted["second"]})
        story.check_latest(Path(story.noted["checkpoint"]), story.noted["first"])
        equal(digest(story.of(story.noted["second"])), story.noted["second_content"])

    @test("trained on from there, a new experiment with the old configuration descends from the loaded one")
    def third(top):
        story = Story(top, name)
        path, steps = train(story.run, story.latest())
        head, pending = story.at()
        equal(pending, NOTHING)
        assert head not in (story.noted["first"], story.noted["second"]), f"{head} is no new experiment"
        experiments = story.experiments()
        equal(experiments.keys(), {story.noted["first"], story.noted["second"], head})
        experiment = experiments[head]
        equal((experiment["parent"], experiment["changed"]), (story.noted["first"], ["MODEL"]))
        story.check_steps(head, steps)
        story.check_latest(path, head)
        story.check_kept(story.noted["second_checkpoint"], story.noted["second_content"])
        story.note(third=head, latest=str(path), third_content=digest(path), log=story.log())

    @after_remount("experiments, their checkpoints and the branch's latest are what they were")
    def same(top):
        story = Story(top, name)
        equal(story.log(), story.noted["log"])
        equal(story.at(), (story.noted["third"], NOTHING))
        story.check_latest(Path(story.noted["latest"]), story.noted["third"])
        story.check_kept(story.noted["second_checkpoint"], story.noted["second_content"])
        equal(digest(story.of(story.noted["third"])), story.noted["third_content"])
