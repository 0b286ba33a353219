"""PyTorch Lightning: ModelCheckpoint with save_top_k and last.ckpt, resumed in a new process, with other
hyper-parameters too."""

import os
import re

import pytorch_lightning
import torch
from pytorch_lightning.callbacks import ModelCheckpoint
from pytorch_lightning.core.saving import load_hparams_from_yaml
from pytorch_lightning.loggers import CSVLogger
from torch.utils.data import DataLoader

from client import after_remount, fresh, main, test, view
from tuning import tuning

HP = {"lr": 0.1}


class Model(pytorch_lightning.LightningModule):
    def __init__(self, hp):
        super().__init__()
        self.save_hyperparameters(hp)
        self.layers = torch.nn.Linear(32, 1)

    def training_step(self, batch, _):
        loss = (self.layers(batch) - 1).square().mean()
        self.log("loss", loss, on_step=False, on_epoch=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.hparams.lr)


def train(run, epochs, resume=None, last=True, hp=HP, logger="csv"):
    """The first epoch that was trained, the last global step, and the best checkpoint's path."""
    pytorch_lightning.seed_everything(1)
    kept = ModelCheckpoint(dirpath=run, monitor="loss", save_top_k=2, save_last=last)
    trainer = pytorch_lightning.Trainer(
        max_epochs=epochs, accelerator="cpu", callbacks=[kept], enable_progress_bar=False,
        enable_model_summary=False, log_every_n_steps=1, logger=CSVLogger(run, name=logger))
    first = []
    model = Model(hp)
    model.on_train_epoch_start = lambda: first.append(trainer.current_epoch)
    trainer.fit(model, DataLoader(torch.randn(32, 32), batch_size=8), ckpt_path=resume, weights_only=False)
    return first[0], trainer.global_step, kept.best_model_path


def checkpoints(run):
    return sorted(path.name for path in run.glob("*.ckpt"))


def load(path):
    return torch.load(path, weights_only=False)


@test("of five epochs the best two and last.ckpt are kept")
def first(top):
    run = top / "runs" / "lightning"
    assert fresh(train, run, 5)[:2] == (0, 20)
    assert checkpoints(run) == ["epoch=3-step=16.ckpt", "epoch=4-step=20.ckpt", "last.ckpt"]
    for name in checkpoints(run):
        found = load(run / name)
        assert found["global_step"] == (found["epoch"] + 1) * 4
    assert load(run / "last.ckpt")["global_step"] == 20


@test("the branch's latest is a checkpoint of the last epoch, and step/ follows the names")
def latest(top):
    branch = view(top, "branches/lightning")
    assert load(branch / "latest")["global_step"] == 20
    assert os.readlink(branch / "step" / "16") == "../../../runs/lightning/epoch=3-step=16.ckpt"


@test("last.ckpt has the step that is in it, to which step/ leads by the checkpoint with that in its name")
def inner(top):
    path = view(top, "runs/lightning/last.ckpt")
    assert os.getxattr(path, "user.expfs.step") == b"20"
    assert os.readlink(top / "branches/lightning/step/20") == "../../../runs/lightning/epoch=4-step=20.ckpt"


@test("a new process resumes from last.ckpt and trains the remaining epochs")
def resumed(top):
    run = top / "runs" / "lightning"
    assert fresh(train, run, 7, run / "last.ckpt")[:2] == (5, 28)
    assert load(run / "last.ckpt")["global_step"] == 28
    assert "epoch=6-step=28.ckpt" in checkpoints(run)


@test("with save_last as a link, last.ckpt leads to the newest checkpoint")
def link(top):
    run = top / "runs" / "linked"
    _, step, best = fresh(train, run, 3, None, "link")
    assert step == 12 and best == str(run / "epoch=2-step=12.ckpt")
    assert os.readlink(run / "last.ckpt") == "epoch=2-step=12.ckpt"
    assert load(run / "last.ckpt")["global_step"] == 12


def resume(top):
    return (train(top / "runs" / "lightning", 8, top / "runs/lightning/epoch=6-step=28.ckpt"),
            train(top / "runs" / "linked", 4, top / "runs/linked/last.ckpt", "link"))


@after_remount("a new process resumes from a kept checkpoint, also by its link")
def remounted(top):
    assert [trained[:2] for trained in fresh(resume, top)] == [(7, 32), (3, 16)]


def hparams(run):
    """Lightning writes them with each training; those of the newest count."""
    return max(run.glob("lightning_logs/version_*/hparams.yaml"), key=lambda path: int(path.parent.name[8:]))


def train_on(run, checkpoint):
    """Two epochs."""
    hp, done = (load_hparams_from_yaml(hparams(run)), load(checkpoint)["epoch"] + 1) if checkpoint else (HP, 0)
    first, step, _ = fresh(train, run, done + 2, checkpoint, True, hp, "lightning_logs")
    assert (first, step) == (done, (done + 2) * 4)
    kept = {int(re.search(r"step=(\d+)", path.name)[1]) for path in run.glob("epoch=*.ckpt")}
    return run / "last.ckpt", sorted(found for found in kept | {step} if found > done * 4)


tuning("tuned", hparams, train_on, "lr: 0.1", "lr: 0.01")

if __name__ == "__main__":
    main()
