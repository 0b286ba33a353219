"""WeightsLab's roots out of a store and into one: what is imported and what is exported lists, loads and resumes as before."""

import os
import shutil
import tempfile
from pathlib import Path

import torch
import yaml

from client import after_remount, digest, equal, expfs, fresh, main, run, test, view
from lab import Training, begin, load_older, weights

outside = Path(tempfile.mkdtemp(prefix="expfs-roots-"))


def seen(root):
    """What the next process finds: the runs, and where it resumes."""
    training = Training(root)
    manager = training.manager
    return [found["hash"] for found in manager.list_runs()], training.now(), manager.is_multi_root


def go_on(root):
    training = Training(root)
    training.resume()
    training.steps(6)
    return training.now()["age"]


def train(run_directory):
    """A loop of its own, which saves its model as WeightsLab does."""
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.ReLU(), torch.nn.Linear(64, 4))
    run_directory.mkdir(parents=True)
    (run_directory / "config.yaml").write_text("lr: 0.001\nsizes: [16, 64,\n4]\n")
    for step in 10, 20:
        with torch.no_grad():
            model[0].weight.add_(step)
        state = model.state_dict() | {"current_step": step}  # from where WeightsLab counts on
        torch.save({"step": step, "model_state_dict": state}, run_directory / f"step_{step}.pt")
    torch.save(model.state_dict(), run_directory / "final_step_30.pt")


def export(top, source, name):
    told = run(os.environ["EXPFS"], "export", str(source), str(outside / name), "--layout", "weightslab", cwd=top)
    return outside / name, told


@test("a root that was trained outside is imported: it lists and resumes as before, and loads an older step")
def imported(top):
    view(top, "runs")
    root = outside / "lab"
    first = fresh(begin, root)["hash"]
    fresh(load_older, root, first)
    before = fresh(seen, root)
    content = digest(root)
    answer = expfs(top, "import", str(root))
    equal(digest(root), content)
    brought = top / "runs" / "lab"
    equal(digest(brought), content)
    equal((answer["branches"], answer["experiments"]), (["runs.lab"], len(before[0])))
    equal(fresh(seen, brought), before)
    ages, _, _ = fresh(load_older, brought, first)
    equal(ages, [10, 5, 0, 5])


@test("a root in the mount is exported: it is equal, lists and resumes as there, and trains on")
def exported(top):
    root = top / "runs" / "lab"
    content = digest(root)
    copy, _ = export(top, root, "copy")
    equal(digest(copy), content)
    equal(fresh(seen, copy), fresh(seen, root))
    assert fresh(go_on, copy) >= 6


@after_remount("a run of another loop is exported as a root: it lists its experiment, and resumes at the last step it can load")
def made_up(top):
    train(top / "runs" / "plain")
    head = (top / "branches/plain/HEAD").read_text().strip()
    root, told = export(top, "plain", "plain")
    assert "final_step_30.pt: is a checkpoint that WeightsLab cannot load" in told, told
    config = yaml.safe_load((root / f"checkpoints/HP/{head[:8]}/{head[:8]}_config.yaml").read_text())
    equal(config["hyperparameters"], {"lr": 0.001, "sizes": [16, 64, 4]})
    runs, now, multi = fresh(seen, root)
    equal((runs, multi, now["age"]), ([head], False, 20))
    equal(now["weights"], weights(top / "runs/plain/step_20.pt"))
    assert fresh(go_on, root) >= 26


if __name__ == "__main__":
    try:
        main()
    finally:
        shutil.rmtree(outside)
