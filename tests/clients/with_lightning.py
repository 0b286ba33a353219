"""PyTorch Lightning: ModelCheckpoint with save_top_k and last.ckpt, resumed in a new process."""

import os

import pytorch_lightning
import torch
from pytorch_lightning.callbacks import ModelCheckpoint
from pytorch_lightning.loggers import CSVLogger
from torch.utils.data import DataLoader

from client import after_remount, fresh, main, test, view


class Model(pytorch_lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.save_hyperparameters({"lr": 0.1})
        self.layers = torch.nn.Linear(32, 1)

    def training_step(self, batch, _):
        loss = (self.layers(batch) - 1).square().mean()
        self.log("loss", loss, on_step=False, on_epoch=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.hparams.lr)


def train(run, epochs, resume=None, last=True):
    """The first epoch that was trained, the last global step, and the best checkpoint's path."""
    pytorch_lightning.seed_everything(1)
    kept = ModelCheckpoint(dirpath=run, monitor="loss", save_top_k=2, save_last=last)
    trainer = pytorch_lightning.Trainer(
        max_epochs=epochs, accelerator="cpu", callbacks=[kept], enable_progress_bar=False,
        enable_model_summary=False, log_every_n_steps=1, logger=CSVLogger(run, name="csv", version=""))
    first = []
    model = Model()
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


@after_remount("a new process resumes from a kept checkpoint, also by its link")
def remounted(top):
    run = top / "runs" / "lightning"
    assert fresh(train, run, 8, run / "epoch=6-step=28.ckpt")[:2] == (7, 32)
    run = top / "runs" / "linked"
    assert fresh(train, run, 4, run / "last.ckpt", "link")[:2] == (3, 16)


if __name__ == "__main__":
    main()
