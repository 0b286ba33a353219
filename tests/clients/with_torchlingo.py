"""TorchLingo: its checkpointer, a training run, resumed, with another learning rate, and with a damaged latest.pt."""

import contextlib
import io
import os
import shutil
import tempfile
from pathlib import Path

import torch
import yaml
from torch.utils.data import DataLoader
from torchlingo.config import Config
from torchlingo.models import SimpleTransformer
from torchlingo.training import train_model
from torchlingo.training_checkpoint import TrainingCheckpointer

from client import after_remount, digest, equal, expfs, fresh, main, run, test, view
from tuning import tuning


def parts():
    torch.manual_seed(1)
    model = SimpleTransformer(40, 40, d_model=32, n_heads=2, num_encoder_layers=1,
                              num_decoder_layers=1, d_ff=64)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    return model, optimizer, torch.optim.lr_scheduler.StepLR(optimizer, 1)


def train(run, epochs, rate=1e-3, validate=True):
    """The epochs that were trained, and what was printed."""
    model, _, _ = parts()
    pairs = [(torch.randint(4, 40, (6,)), torch.randint(4, 40, (6,))) for _ in range(32)]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        checkpointer = TrainingCheckpointer("lingo", checkpoint_dir=run)
        train_model(model, DataLoader(pairs, 8, shuffle=True), DataLoader(pairs, 8) if validate else None,
                    num_epochs=epochs, checkpointer=checkpointer, save_dir=run,
                    config=Config(use_tensorboard=False, base_dir=run, learning_rate=rate))
    return checkpointer.state.epoch, printed.getvalue()


def state(path):
    return torch.load(path, weights_only=False)["state"]


@test("a state saved as latest and best loads back with its generators")
def checkpointer(top):
    run = top / "runs" / "steps"
    model, optimizer, scheduler = parts()
    checkpointer = TrainingCheckpointer("steps", checkpoint_dir=run, save_every_steps=2)
    checkpointer.update(epoch=3, global_step=7, train_loss=0.5, val_loss=0.25)
    checkpointer.save(model, optimizer, scheduler, is_best=True)
    drawn = torch.rand(4)
    assert (run / "best.pt").read_bytes() == (run / "latest.pt").read_bytes()
    assert checkpointer.maybe_save(model, optimizer, scheduler, global_step=8) is None
    for parameter in model.parameters():
        parameter.data.zero_()
    assert checkpointer.maybe_save(model, optimizer, scheduler, global_step=9) is not None
    found = TrainingCheckpointer("steps", checkpoint_dir=run).load(model, optimizer, scheduler, which="best")
    assert (found.epoch, found.global_step, found.best_val_loss) == (3, 7, 0.25)
    assert torch.equal(torch.rand(4), drawn)
    assert all(map(torch.equal, model.parameters(), parts()[0].parameters()))
    assert sorted(os.listdir(run)) == ["best.pt", "latest.pt"]


@test("a run of two epochs leaves latest.pt, best.pt and model_best.pt")
def first(top):
    run = top / "runs" / "lingo"
    epoch, printed = fresh(train, run, 2)
    assert epoch == 1 and "resumed" not in printed, printed
    assert sorted(os.listdir(run)) == ["best.pt", "latest.pt", "model_best.pt"]


@test("the branch's latest is a whole checkpoint of the last epoch")
def latest(top):
    link = view(top, "branches/lingo/latest")
    assert os.path.dirname(os.readlink(link)) == "../../runs/lingo"
    assert (link.stat().st_mtime_ns
            >= max(path.stat().st_mtime_ns for path in (top / "runs/lingo").glob("*.pt")))
    torch.load(link, weights_only=False)


@test("latest.pt and best.pt have the steps at which they were saved")
def steps(top):
    for run, name in ("lingo", "latest"), ("lingo", "best"), ("steps", "latest"), ("steps", "best"):
        path = view(top, f"runs/{run}/{name}.pt")
        assert int(os.getxattr(path, "user.expfs.step")) == state(path)["global_step"]
    assert os.getxattr(top / "runs/steps/latest.pt", "user.expfs.step") == b"9"
    assert sorted(os.listdir(top / "branches/steps/step")) == ["7", "9"]
    assert os.path.samefile(top / "branches/steps/step/7", top / "runs/steps/best.pt")


@test("an exported folder alone resumes the run, and is not exported over what it was trained to")
def exported(top):
    expfs(top, "select", "runs/lingo/best.pt")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "drive"
        answer = expfs(top, "export", "lingo", str(folder))
        equal({f["name"]: f["action"] for f in answer["files"]}, {"latest.pt": "written", "best.pt": "written"})
        equal(sorted(os.listdir(folder)), ["best.pt", "latest.pt"])
        equal(digest(folder / "latest.pt"), digest(top / "runs/lingo/latest.pt"))
        equal(digest(folder / "best.pt"), digest(top / "runs/lingo/best.pt"))
        epoch, printed = fresh(train, folder, 3)
        assert epoch == 2 and "resumed from epoch 1" in printed, printed
        said = run(os.environ["EXPFS"], "export", "lingo", str(folder), status=3, cwd=top)
        assert "move it away" in said, said
        equal(state(folder / "latest.pt")["epoch"], 2)


@test("a new process resumes and trains the third epoch only")
def resumed(top):
    run = top / "runs" / "lingo"
    epoch, printed = fresh(train, run, 3)
    assert epoch == 2 and "resumed from epoch 1" in printed, printed
    assert len(state(run / "latest.pt")["train_losses"]) == 3


@test("a stray latest.tmp is neither read nor in the way")
def stray(top):
    run = top / "runs" / "lingo"
    (run / "latest.tmp").write_bytes(b"half a checkpoint")
    epoch, printed = fresh(train, run, 4)
    assert epoch == 3 and "resumed from epoch 2" in printed, printed
    assert "latest.tmp" not in os.listdir(run)


@test("with latest.pt halved, emptied, zeroed or a byte short it starts afresh")
def damaged(top):
    run = top / "runs" / "lingo"
    content = (run / "latest.pt").read_bytes()
    for damage in content[: len(content) // 2], b"", bytes(len(content)), content[:-1]:
        (run / "latest.pt").write_bytes(damage)
        epoch, printed = train(run, 1)
        assert epoch == 0 and "resumed" not in printed, printed
        assert len(state(run / "latest.pt")["train_losses"]) == 1


@after_remount("a new process resumes from what was saved last")
def remounted(top):
    run = top / "runs" / "lingo"
    epoch, printed = fresh(train, run, 2)
    assert epoch == 1 and "resumed from epoch 0" in printed, printed


@after_remount("a removed run leaves nothing behind in its directory")
def removed(top):
    shutil.rmtree(top / "runs" / "lingo")
    assert "lingo" not in os.listdir(top / "runs")


@after_remount("a folder that was trained outside is imported, and it resumes there")
def imported(top):
    view(top, "runs")
    with tempfile.TemporaryDirectory() as outside:
        folder = Path(outside) / "brought"
        fresh(train, folder, 2)
        (folder / "latest.tmp").write_bytes(b"half a checkpoint")
        before = digest(folder)
        equal(expfs(top, "import", str(folder))["branches"], ["brought"])
        equal(digest(folder), before)
    run = top / "runs" / "brought"
    equal(digest(run), before)
    newest = max(path.stat().st_mtime_ns for path in run.glob("*.pt"))  # that of several, where the clock stood still
    equal((top / "branches/brought/latest").stat().st_mtime_ns, newest)
    epoch, printed = fresh(train, run, 3)
    assert epoch == 2 and "resumed from epoch 1" in printed, printed
    assert (top / "branches/brought/latest").resolve() in run.glob("*.pt")


def config(run):
    return run / "config.yaml"


def train_on(run, checkpoint):
    """Two epochs. It resumes from its latest.pt and, as nothing is validated, writes no other."""
    done = 0
    if checkpoint:
        done = state(checkpoint)["epoch"] + 1
    else:
        run.mkdir()
        config(run).write_text("learning_rate: 0.001\n")
    rate = yaml.safe_load(config(run).read_text())["learning_rate"]
    epoch, printed = fresh(train, run, done + 2, rate, False)
    assert epoch == done + 1 and (f"resumed from epoch {done - 1}" in printed) == bool(done), printed
    return run / "latest.pt", None


tuning("tuned", config, train_on, "0.001", "0.0005")

if __name__ == "__main__":
    main()
