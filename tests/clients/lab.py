"""What a training with WeightsLab does, each in a process of its own, and what it leaves."""

import json
import os
import zipfile

os.environ.update(
    WEIGHTSLAB_OPENCODE_AUTOINSTALL="0",  # importing it would start a download
    WL_NO_TELEMETRY="1",
    WEIGHTSLAB_SKIP_SECURE_INIT="true",
    WEIGHTSLAB_LOG_TO_FILE="false",
    WEIGHTSLAB_LOG_LEVEL="WARNING")

import pandas
import torch
import yaml
from weightslab.backend import ledgers
from weightslab.backend.logger import LoggerQueue
from weightslab.backend.model_interface import ModelInterface
from weightslab.components.global_monitoring import guard_training_context, pause_controller
from weightslab.data.dataframe_manager import LedgeredDataFrameManager
from weightslab.data.h5_dataframe_store import H5DataFrameStore


class Training:
    """What a training script sets up; a root that exists is resumed by that alone."""

    def __init__(self, root):
        ledgers.clear_all()
        ledgers.register_hyperparams({"root_log_dir": str(root), "experiment_name": "demo",
                                      "experiment_dump_to_train_steps_ratio": 5, "lr": 0.001})
        self.logger = LoggerQueue(register=True)
        self.frame = LedgeredDataFrameManager(enable_flushing_threads=False)
        ledgers.register_dataframe(self.frame)
        self.frame.register_split("train", [{"sample_id": str(i), "discarded": False, "tag:ugly": False}
                                            for i in range(10)],
                                  store=H5DataFrameStore(root / "checkpoints" / "data" / "data.h5"))
        self.model = ModelInterface(torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.ReLU(),
                                                        torch.nn.Linear(64, 4)), device="cpu")
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.001)
        ledgers.register_optimizer(self.optimizer)
        self.manager = ledgers.get_checkpoint_manager()

    def resume(self):
        assert pause_controller.resume(force=False)

    def steps(self, count):
        for _ in range(count):
            with guard_training_context:
                self.optimizer.zero_grad()
                self.model(torch.randn(8, 16)).square().mean().backward()
                self.optimizer.step()

    def edit_rate(self, rate):
        ledgers.set_hyperparam("lr", rate)

    def edit_samples(self, column, ids):
        self.frame.upsert_df(pandas.DataFrame({"sample_id": ids, column: True}), "train", force_flush=True)

    def now(self):
        self.manager.flush_logger_to_disk()
        return {"hash": self.manager.current_exp_hash, "age": int(self.model.get_age()),
                "weights": values(ledgers.get_model().state_dict())}


def manifest(root):
    """The manifest, after holding it against the tree beside it."""
    checkpoints = root / "checkpoints"
    found = yaml.safe_load((checkpoints / "manifest.yaml").read_text())
    assert found["latest_hash"] in found["experiments"]
    for key, entry in found["experiments"].items():
        assert key == entry["hp_hash"] + entry["model_hash"] + entry["data_hash"], (key, entry)
        name = entry["latest_weight_checkpoint"]
        if name is not None:
            saved = load(checkpoints / "models" / entry["model_hash"] / name)
            assert (saved["exp_hash"], saved["step"]) == (key, entry["latest_weight_step"]), name
    state = json.loads((root / ".checkpoint_manager_state.json").read_text())
    assert state["current_exp_hash"] == state["component_hashes"]["combined"], state
    return found


def load(path):
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
    return torch.load(path, weights_only=False)


def values(state_dict):
    found = {name: value.tolist() for name, value in state_dict.items() if isinstance(value, torch.Tensor)}
    assert len(found) == 4, found.keys()
    return found


def weights(path):
    return values(load(path)["model_state_dict"])


def weights_file(root, exp_hash, step):
    return root / "checkpoints" / "models" / exp_hash[8:-8] / f"{exp_hash}_step_{step:06d}.pt"


def begin(root):
    training = Training(root)
    training.resume()
    training.steps(12)
    return training.now()


def look(root):
    training = Training(root)
    return training.now() | {"roots": training.manager.discovered_root_dirs}


def edit_rate(root):
    training = Training(root)
    training.resume()
    resumed = training.now()
    training.edit_rate(0.01)
    training.steps(6)
    pending = training.now()
    assert training.manager.has_pending_changes()[0]
    assert pending["hash"] not in manifest(root)["experiments"]
    assert stored_steps(root, pending["hash"]) == [15]
    pause_controller.pause()
    training.resume()
    training.steps(10)
    return resumed, pending, training.now()


def load_older(root, exp_hash):
    """The ages that loading the hash at steps 7, 8, 3 and 2 gives; goes on from 7."""
    training = Training(root)
    before = (root / "checkpoints" / "manifest.yaml").read_bytes()
    ages = []
    for step in 8, 3, 2, 7:
        assert training.manager.load_state(exp_hash, force=False, load_model=True, load_weights=True,
                                           load_config=True, load_data=True, load_logger=True,
                                           target_step=step)
        ages.append(training.now()["age"])
    assert training.now()["weights"] == weights(weights_file(root, exp_hash, 5))
    assert (root / "checkpoints" / "manifest.yaml").read_bytes() == before
    training.model = ledgers.get_model()
    training.optimizer = ledgers.get_optimizer()
    training.resume()
    training.steps(5)
    return ages, training.now(), training.manager.previous_exp_hash


def listed(root):
    manager = Training(root).manager
    return [run["hash"] for run in manager.list_runs()], [entry["hash"] for entry in manager.get_all_hashes()]


def stored_steps(root, exp_hash):
    """The steps that lie in the directory of the hash's MODEL segment under this hash."""
    return sorted(int(path.stem.split("_")[-1]) for path in (root / "checkpoints/models" / exp_hash[8:-8]).glob("*.pt")
                  if path.name.startswith(exp_hash))
