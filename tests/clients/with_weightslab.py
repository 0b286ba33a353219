"""WeightsLab's own CheckpointManager with its root at the top: every act a new process.

After each act the manifest is read as the next process would read it. The MODEL
segment changes at every load, as the step that was loaded enters it.
"""

import json
import os
import re
import sys
from pathlib import Path

import duckdb
import pandas
import torch
import yaml

from client import after_remount, fresh, kill, main, run, start, test, view
from lab import (Training, begin, edit_rate, guard_training_context, ledgers, listed, load_older, look, manifest,
                 pause_controller, stored_steps, weights, weights_file)

UNTOUCHED = "bb73166f"  # DATA of the ids 0 to 9, none discarded
WITHOUT_0 = "6463440d"  # the same with id 0 discarded


def told(*arguments):
    """What the command of expfs says."""
    return json.loads(run(os.environ["EXPFS"], *map(str, arguments), "--json"))


def newest_weights(root):
    paths = [path for path in (root / "checkpoints" / "models").glob("*/*.pt")
             if re.fullmatch("[0-9a-f]{24}_step_[0-9]{6,}.pt", path.name)]
    return max(paths, key=lambda path: path.stat().st_mtime_ns)


def edit_data(root):
    training = Training(root)
    training.resume()
    before = training.now()["hash"]
    training.edit_samples("tag:ugly", ["3", "4"])
    assert not training.manager.update_experiment_hash()[1]
    training.edit_samples("discarded", ["0"])
    after, is_new, changed = training.manager.update_experiment_hash()
    assert is_new and changed == {"data"}, changed
    assert training.manager.save_pending_changes(force=False)
    training.steps(5)
    return before, after, training.now()


def train_for_ever(root, say):
    training = Training(root)
    training.resume()
    while True:
        training.steps(1)
        say(training.now()["age"])


def edit_twice(root):
    """Two edits before a flush: the first one's hash is never listed."""
    training = Training(root)
    training.resume()
    training.steps(1)
    hashes = []
    for rate in 0.02, 0.03:
        training.edit_rate(rate)
        hashes.append(training.manager.update_experiment_hash()[0])
    pending = training.now()["hash"]
    state = json.loads((root / ".checkpoint_manager_state.json").read_text())
    assert [state["previous_exp_hash"], state["current_exp_hash"]] == hashes and pending == hashes[1], state
    pause_controller.pause()
    training.resume()
    training.steps(5)
    return hashes, training.now()


def by_hand(root):
    training = Training(root)
    manager = training.manager
    current = manager.current_exp_hash
    assert manager.rename_run(current, "another name")
    assert manager.set_run_notes(current, "first line\n\nsecond: é 🙂")
    assert manager.save_model_checkpoint(step=1_000_000).name == f"{current}_step_1000000.pt"
    run, = (run for run in manager.list_runs() if run["is_current"])
    assert (run["experiment_name"], run["notes"]) == ("another name", "first line\n\nsecond: é 🙂")
    assert run["latest_weight_step"] == 1_000_000


def by_text(root):
    """Both sides of the sixth digit: a file of 999,999 and one of a million."""
    manager = Training(root).manager
    current = manager.current_exp_hash
    for step in 999_999, 1_000_000:
        manager.save_model_checkpoint(step=step)
    return current, manager._select_weight_checkpoint_file(current), manager._select_weight_checkpoint_file(current, 2_000_000)


def selected(root, exp_hash, steps):
    manager = Training(root).manager
    return {step: manager._select_weight_checkpoint_file(exp_hash, step) for step in steps}


def train_on_sibling(parent, exp_hash):
    """The effective root goes on from an experiment of another one."""
    training = Training(parent)
    assert training.manager.load_state(exp_hash, force=False, load_model=True, load_weights=True, load_config=True,
                                       load_data=True, load_logger=True)
    training.model = ledgers.get_model()
    training.optimizer = ledgers.get_optimizer()
    training.resume()
    training.steps(6)
    return training.now()["hash"]


def several_roots(parent):
    for root in "a", "x/b", ".h/e":
        training = Training(parent / root)
        training.resume()
        training.steps(6)
        training.now()
        pause_controller.pause()
    manager = Training(parent).manager
    return manager.is_multi_root, manager.root_log_dir, sorted(manager.discovered_root_dirs)


@test("a first run dumps its configuration, data, weights and one manifest entry")
def first_run(top):
    now = fresh(begin, top)
    exp_hash = now["hash"]
    assert now["age"] == 12 and exp_hash[8:] == "b5a79a78" + UNTOUCHED, exp_hash
    assert list(manifest(top)["experiments"]) == [exp_hash]
    assert stored_steps(top, exp_hash) == [0, 5, 10]
    config = yaml.safe_load((top / f"checkpoints/HP/{exp_hash[:8]}/{exp_hash[:8]}_config.yaml").read_text())
    assert config["hyperparameters"]["lr"] == 0.001
    data = top / "checkpoints" / "data" / UNTOUCHED
    assert len(pandas.read_parquet(data / f"{UNTOUCHED}_data_snapshot.parquet")) == 10
    assert json.loads((data / f"{UNTOUCHED}_data_snapshot.json").read_text())["exp_hash"] == exp_hash


@test("the branch's latest names the weights saved last, and step/ the nearest ones")
def views(top):
    branch = view(top, "branches/main")
    newest = newest_weights(top)
    assert os.readlink(branch / "latest") == os.path.relpath(newest, branch), os.readlink(branch / "latest")
    assert sorted(os.listdir(branch / "step"), key=int) == ["0", "5", "10"]
    assert torch.load(branch / "step" / "4", weights_only=False)["step"] == 5


@test("a new process resumes at the last checkpoint with its weights")
def resumed(top):
    now = fresh(look, top)
    exp_hash, = manifest(top)["experiments"]
    assert (now["hash"], now["age"]) == (exp_hash, 10)
    assert now["weights"] == weights(weights_file(top, exp_hash, 10))


@test("the top is the only root that a new process finds below it")
def one_root(top):
    found = fresh(look, top)["roots"]
    assert found == [top], found


@test("an edit of the rate is pending until training is paused and resumed")
def edited_rate(top):
    first, = manifest(top)["experiments"]
    resumed, pending, after = fresh(edit_rate, top)
    assert resumed["age"] == 10 and resumed["hash"][:8] == first[:8] and resumed["hash"] != first
    assert pending["hash"][:8] != first[:8] and pending["hash"][8:] == resumed["hash"][8:]
    assert list(manifest(top)["experiments"]) == [first, resumed["hash"], pending["hash"]]
    assert after["hash"] == pending["hash"] and after["age"] == 26
    assert stored_steps(top, after["hash"])[-2:] == [20, 25]


@test("a tag changes no hash, a discarded sample does")
def edited_data(top):
    before, after, now = fresh(edit_data, top)
    assert before[-8:] == UNTOUCHED and after == before[:-8] + WITHOUT_0
    assert now["hash"] == after and after in manifest(top)["experiments"]
    assert now["age"] == 30 and stored_steps(top, after)[-1] == 30


@test("the branch's latest follows the newest weights through new hashes")
def latest_follows(top):
    branch = view(top, "branches/main")
    newest = newest_weights(top)
    assert os.readlink(branch / "latest") == os.path.relpath(newest, branch), os.readlink(branch / "latest")


@test("a run killed in training resumes from its last checkpoint")
def killed(top):
    training, hear = start(train_for_ever, top)
    while hear() < 43:
        pass
    kill(training)
    found = manifest(top)
    now = fresh(look, top)
    assert now["hash"] == found["latest_hash"] and now["age"] >= 40, now["age"]


@test("a hash that was only ever pending is no experiment, and what follows it goes on from what was before")
def edited_twice(top):
    hashes, now = fresh(edit_twice, top)
    *_, resumed, last = manifest(top)["experiments"]
    assert now["hash"] == last == hashes[1], (hashes, now)
    view(top, "branches")
    log = {entry["hash"]: entry for entry in told("log", top)["experiments"]}
    assert hashes[0] not in log and log[last]["parent"] == resumed, log
    assert log[last]["branches"] == log[last]["head_of"] == ["main"], log[last]


@test("an older hash loads at the step nearest to the wanted one and goes on as a new one")
def older(top):
    first = next(iter(manifest(top)["experiments"]))
    ages, now, previous = fresh(load_older, top, first)
    assert ages == [10, 5, 0, 5], ages
    assert now["hash"][8:-8] == "941b7d6d" and previous == first, (now["hash"], previous)
    assert stored_steps(top, now["hash"])[-1] == now["age"] == 10
    assert now["hash"] in manifest(top)["experiments"]


@test("expfs tells the experiments that WeightsLab lists, with the steps that are stored")
def same_experiments(top):
    view(top, "experiments")
    runs, hashes = fresh(listed, top)
    experiments = {entry["hash"]: entry for entry in told("log", top)["experiments"]}
    assert sorted(experiments) == sorted(runs) == sorted(hashes), (sorted(experiments), sorted(runs))
    for exp_hash, entry in experiments.items():
        assert entry["steps"] == stored_steps(top, exp_hash), entry
        shown = os.listdir(top / "experiments" / exp_hash / "step")
        assert sorted(map(int, shown)) == entry["steps"], shown
    assert set(hashes) <= set(os.listdir(top / "experiments"))


@test("for a hash and a wanted step expfs shows the file that WeightsLab selects")
def same_files(top):
    for exp_hash in manifest(top)["experiments"]:
        steps = view(top, f"experiments/{exp_hash}/step")
        for step, path in fresh(selected, top, exp_hash, range(0, 60, 3)).items():
            found = (steps / str(step)).resolve() if stored_steps(top, exp_hash) else None
            assert found == path, (exp_hash, step, found, path)


@test("what was trained on from an older hash is a second branch, and the first one stays")
def second_branch(top):
    branches = view(top, "branches")
    assert sorted(os.listdir(branches)) == ["main", "main.2"], os.listdir(branches)
    order = list(manifest(top)["experiments"])
    log = {entry["hash"]: entry for entry in told("log", top)["experiments"]}
    main = [exp_hash for exp_hash in order if log[exp_hash]["branches"] == ["main"]]
    other = [exp_hash for exp_hash in order if log[exp_hash]["branches"] == ["main.2"]]
    assert main + other == order and len(other) == 1, (main, other)
    parents = [log[exp_hash]["parent"] for exp_hash in order]
    assert parents == [None, *main[:-1], main[0]], parents
    assert (branches / "main" / "HEAD").read_text().strip() == main[-1]
    assert (branches / "main.2" / "HEAD").read_text().strip() == other[0]
    assert (branches / "main.2" / "latest").resolve() == newest_weights(top)


@test("names, notes and a checkpoint made by hand are in the manifest")
def hand(top):
    fresh(by_hand, top)
    manifest(top)


@test("beyond 999,999 WeightsLab takes the last name in text order, and expfs the last step")
def beyond(top):
    exp_hash, newest, nearest = fresh(by_text, top)
    assert newest.name == f"{exp_hash}_step_999999.pt", newest  # a million stands before it
    assert nearest.name == f"{exp_hash}_step_1000000.pt", nearest
    for shown in view(top, f"experiments/{exp_hash}"), view(top, "branches/main.2"):
        assert (shown / "latest").resolve() == weights_file(top, exp_hash, 1_000_000)
        assert (shown / "step" / "999999").resolve() == weights_file(top, exp_hash, 999_999)
        assert (shown / "step" / "2000000").resolve() == weights_file(top, exp_hash, 1_000_000)
        assert sorted(os.listdir(shown / "step"), key=int)[-2:] == ["999999", "1000000"]


@test("the curves of all these processes are in the logger's database")
def curves(top):
    loggers = top / "checkpoints" / "loggers"
    with duckdb.connect(str(loggers / "loggers.duckdb"), read_only=True) as base:
        steps, = base.sql("select count(distinct step) from signals where metric_name = 'model/grad_norm'"
                          ).fetchone()
    assert steps >= 40, steps


@test("weightslab-curves shows each row once, though roots have copies of each other's, and the same when asked again")
def all_curves(top):
    view(top, ".expfs")
    program = Path(__file__).resolve().parents[2] / "contrib" / "weightslab-curves"
    shown = json.loads(run(sys.executable, program, top, "--json"))
    kept = "metric_name, experiment_hash, step, metric_value, timestamp"
    with duckdb.connect(str(top / "checkpoints" / "loggers" / "loggers.duckdb"), read_only=True) as base:
        rows = {json.dumps(row) for row in base.sql(f"select {kept} from signals").fetchall()}
    told = {json.dumps([row[name] for name in kept.split(", ")]) for row in shown}
    assert rows and rows <= told and len(set(map(json.dumps, shown))) == len(shown), (len(rows), len(told))
    assert run(sys.executable, program, top, "--json") == json.dumps(shown) + "\n"


@after_remount("the manifest is sound, and a new process resumes from its newest weights")
def remounted(top):
    found = manifest(top)
    now = fresh(look, top)
    assert now["hash"] == found["latest_hash"]
    assert now["weights"] == weights(newest_weights(top))


@after_remount("the top is still the only root that a new process finds, whatever views there are")
def still_one_root(top):
    found = fresh(look, top)["roots"]
    assert found == [top], found


@after_remount("a directory with several roots is opened at the newest of those it may see")
def roots(top):
    parent = top / "several"
    multi, effective, found = fresh(several_roots, parent)
    assert multi and effective == parent / "x" / "b", effective
    assert found == [parent / "a", parent / "x" / "b"], found
    view(top, "branches")
    status = told("status", parent)
    at = [top / path.lstrip("/") for path in (status["given_root"], status["effective_root"], *status["roots"])]
    assert at == [parent, effective, *found] and status["multi_root"], status
    assert (parent / ".expfs" / "latest").resolve() == newest_weights(effective)


@after_remount("going on from a sibling root's experiment is a new branch of the effective root, with that parent")
def sibling(top):
    branches = view(top, "branches")
    parent = top / "several"
    loaded, = manifest(parent / "a")["experiments"]
    before = sorted(os.listdir(branches))
    exp_hash = fresh(train_on_sibling, parent, loaded)
    assert exp_hash in manifest(parent / "x" / "b")["experiments"]
    assert sorted(os.listdir(branches)) == sorted([*before, "several.x.b.2"]), os.listdir(branches)
    entry, = (entry for entry in told("log", parent)["experiments"] if entry["hash"] == exp_hash)
    assert (entry["parent"], entry["branches"]) == (loaded, ["several.x.b.2"]), entry


if __name__ == "__main__":
    main()
