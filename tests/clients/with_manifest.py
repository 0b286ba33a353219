"""What expfs reads in the small files of trainings, against what their writers say is in them.

WeightsLab and PyYAML, Python's json and csv, and Lightning's CSVLogger write;
tests/clients/formats, which make check builds, reads with expfs' own parsers.
"""

import csv
import hashlib
import json
import math
import os
import random
import subprocess
from pathlib import Path

import pandas
import yaml

from client import Skip, fresh, main, test

FORMATS = Path(os.environ.get("EXPFS", "")).parent / "tests" / "clients" / "formats"


def formats(what, path):
    if not FORMATS.is_file():
        raise Skip(f"there is no {FORMATS}; make check builds it")
    return subprocess.run([FORMATS, what, path], check=True, stdout=subprocess.PIPE).stdout


def read(what, path):
    return json.loads(formats(what, path))


def segment(text):
    return hashlib.sha256(text.encode()).hexdigest()[:8]


# In a process of their own, as WeightsLab keeps its state in the process

def write_tree(root):
    """Several experiments with names and notes; what WeightsLab itself says of them."""
    from with_weightslab import Training, pause_controller
    training = Training(root)
    training.resume()
    training.steps(7)
    training.edit_rate(0.01)
    pause_controller.pause()
    training.resume()
    training.steps(6)
    training.edit_samples("tag:ugly", ["3"])
    training.edit_samples("discarded", ["0", "7"])
    manager = training.manager
    manager.update_experiment_hash()
    manager.save_pending_changes(force=False)
    first, *_, last = yaml.safe_load(manager.manifest_file.read_text())["experiments"]
    manager.set_run_notes(first, "first line\n\nsecond: é 🙂 # not a comment " + "and long, " * 20)
    manager.rename_run(last, "1e5")
    training.steps(5)
    return said(manager)


def said(manager):
    return {"runs": manager.list_runs(), "hashes": manager.hash_generator.get_component_hashes(),
            "current": manager.current_exp_hash, "previous": manager.previous_exp_hash}


def write_data_as_json(root):
    """The data snapshot where Parquet cannot be written, and the hash of the state in it."""
    from with_weightslab import Training

    def fail(*_, **__):
        raise ImportError("no engine")

    training = Training(root)
    training.resume()
    training.edit_samples("discarded", ["4"])
    pandas.DataFrame.to_parquet = fail
    training.manager.update_experiment_hash()
    path = training.manager.save_data_snapshot()
    return path, training.manager.get_data_hash(), training.frame.get_df_view().reset_index().to_dict(orient="records")


def hash_states(states):
    from weightslab.components.experiment_hash import ExperimentHashGenerator
    generator = ExperimentHashGenerator()
    return [generator._hash_data_state({"discarded": state, "tag": {}}) for state in states]


def list_runs(root):
    from weightslab.components.checkpoint_manager import CheckpointManager
    return CheckpointManager(root, load_model=False, load_config=False, load_data=False).list_runs()


@test("a manifest of WeightsLab's is read as its own list_runs reads it")
def manifest(top):
    said_here = fresh(write_tree, top)
    found = read("manifest", top / "checkpoints" / "manifest.yaml")
    assert found["state"] == "whole" and len(found["experiments"]) >= 3, found
    for run in said_here["runs"]:
        assert found["experiments"].pop(run.pop("hash")) == {key: value for key, value in run.items() if key != "is_current"}
    assert not found["experiments"]
    state = read("state", top / ".checkpoint_manager_state.json")
    assert state == json.loads((top / ".checkpoint_manager_state.json").read_text())
    assert (state["current_exp_hash"], state["previous_exp_hash"]) == (said_here["current"], said_here["previous"])
    assert state["component_hashes"] == said_here["hashes"]


@test("experiments come in the order of the file, and the latest is the file's")
def order(top):
    path = top / "checkpoints" / "manifest.yaml"
    loaded, found = yaml.safe_load(path.read_text()), read("manifest", path)
    assert list(found["experiments"]) == list(loaded["experiments"])
    assert (found["latest_hash"], found["last_updated"]) == (loaded["latest_hash"], loaded["last_updated"])


@test("a manifest written by expfs is for PyYAML, and for WeightsLab, the one that was read")
def written(top):
    path = top / "checkpoints" / "manifest.yaml"
    text = formats("write", path)
    for loader in yaml.SafeLoader, yaml.CSafeLoader:
        assert yaml.load(text, loader) == yaml.safe_load(path.read_text())
    copy = top / "written" / "checkpoints"
    copy.mkdir(parents=True)
    (copy / "manifest.yaml").write_bytes(text)
    expected = fresh(list_runs, top)
    found = fresh(list_runs, top / "written")
    for run in expected + found:
        del run["is_current"]
    assert found == expected


def wild_texts(count):
    dice = random.Random(7)
    known = ["", " ", "null", "~", "yes", "No", "on", "1", "01234567", "09999999", "1e345678", "12345e67", "0x1f", "1_000", "1:30", ".5", ".inf",
             "-.NaN", "=", "<<", "2026-11-30", "2026-11-30 01:02:03", "a: b", "a #b", "- a", "? a", "'", '"', "\\", "a\nb", "\n a\n\n", "a\tb",
             "\x85", "\u2028", "\ufeff", "\x07", "é", "🙂", "%TAG", "@", "`", "|", ">", "!x", "&x", "*x", "[", "{", "---", "...", "e1234567"]
    letters = "ab01 :#-'\"\\\n\t%&*!|>{}[],?é\x85\u2028🙂"
    return known + ["".join(dice.choice(letters) for _ in range(dice.randrange(1, 30))) for _ in range(count)]


@test("any text as a name, a note or a hash comes back through PyYAML both ways")
def texts(top):
    wild = list(dict.fromkeys(wild_texts(3000)))
    expected = {"experiments": {text: {"hp_hash": text, "latest_weight_step": None, "experiment_name": text[::-1], "notes": text}
                                for text in wild}, "latest_hash": wild[7], "last_updated": "x"}
    path = top / "wild.yaml"
    with path.open("w") as file:
        yaml.dump(expected, file, default_flow_style=False, sort_keys=False)
    found = read("manifest", path)
    assert list(found["experiments"]) == wild
    for text, entry in found["experiments"].items():
        assert (entry["hp_hash"], entry["experiment_name"], entry["notes"]) == (text, text[::-1], text), entry
    loaded = yaml.safe_load(formats("write", path))
    assert list(loaded["experiments"]) == wild
    for text, entry in loaded["experiments"].items():
        assert (entry["hp_hash"], entry["experiment_name"], entry["notes"]) == (text, text[::-1], text), entry


@test("of a manifest that is cut anywhere expfs has what PyYAML has")
def cut(top):
    text = (top / "checkpoints" / "manifest.yaml").read_bytes()
    path = top / "cut.yaml"
    for n in range(0, len(text), 7):
        path.write_bytes(text[:n])
        found = read("manifest", path)
        try:
            loaded = yaml.safe_load(text[:n].decode())
        except (yaml.YAMLError, UnicodeDecodeError):
            assert found["state"] == "broken", (n, found)
            continue
        if not isinstance(loaded, dict):
            assert found["state"] == ("empty" if loaded is None else "broken"), (n, found)
            continue
        entries = loaded.get("experiments")
        if isinstance(entries, dict) and any(isinstance(entry, str) for entry in entries.values()):
            assert found["state"] == "broken", (n, found)
            continue
        assert list(found["experiments"]) == (list(entries) if isinstance(entries, dict) else []), n
        latest = loaded.get("latest_hash")  # cut to digits it is a number to PyYAML
        assert found["latest_hash"] == latest or not isinstance(latest, (str, type(None))), n
        assert found["state"] == ("no experiments" if not isinstance(entries, dict) else
                                  "whole" if found["latest_hash"] else "no latest"), n


@test("a data snapshot of WeightsLab's names its Parquet file, and as JSON gives WeightsLab's hash")
def data(top):
    current = read("manifest", top / "checkpoints" / "manifest.yaml")["latest_hash"]
    parquet = read("data", top / f"checkpoints/data/{current[-8:]}/{current[-8:]}_data_snapshot.json")
    assert parquet["text"] is None and parquet["data_file"] == f"{current[-8:]}_data_snapshot.parquet", parquet
    assert parquet["exp_hash"] == current
    path, expected, rows = fresh(write_data_as_json, top)
    assert expected != current[-8:]
    named = read("data", path)
    assert named["text"] is None
    columns = read("data", path.parent / named["data_file"])
    assert columns["samples"] == 10 and segment(columns["text"]) == expected, columns
    # the form up to 1.4.0, as that release writes it
    old = top / "old.json"
    with old.open("w") as file:
        json.dump({"exp_hash": current, "timestamp": "x", "data": rows, "rng_state": {}}, file, indent=2, default=str)
    assert segment(read("data", old)["text"]) == expected


@test("any ids and flags give the hash that WeightsLab's generator gives")
def hashes(top):
    dice = random.Random(7)
    flags = [True, False, None, math.nan, 0, 1, 0.0, 0.5, math.inf, "", "False"]
    states = [{dice.choice([str(i), i, f"é{i}/🙂", f"{i:07d}\uffff"]): dice.choice(flags) for i in range(dice.randrange(200))}
              for _ in range(50)]
    path = top / "state.json"
    for state, expected in zip(states, fresh(hash_states, states), strict=True):
        with path.open("w") as file:
            json.dump({"data": [{"sample_id": key, "discarded": value, "annotation_id": 0} for key, value in state.items()]}, file)
        found = read("data", path)
        assert "why" not in found and segment(found["text"]) == expected, (state, found)


@test("the options of checkpoint_manager are those that Python reads")
def options(top):
    defaults = {"enable_checkpoints": True, "dump_model_architecture": False, "dump_model_state": True,
                "dump_optimizer_state": True, "dump_data_state": True, "dump_config_state": True}
    values = ["true", "false", "yes", "No", "on", "OFF", "0", "1", "00", "-0", "0.0", "null", "~", "", "''", "'false'", "\"0\"", "y", "n", "text"]
    dice = random.Random(7)
    path = top / "options.yaml"
    for _ in range(100):
        given = {key: dice.choice(values) for key in defaults if dice.random() < 0.7}
        text = "lr: 0.1\ncheckpoint_manager: {other: 1}\n".replace("{other: 1}", "\n  other: 1\n" + "".join(
            f"  {key}: {value}\n" for key, value in given.items()))
        path.write_text(text)
        section = yaml.safe_load(text)["checkpoint_manager"]
        assert read("options", path) == {key: bool(section.get(key, default)) for key, default in defaults.items()}, text


def same_rows(found, expected):
    assert not found["bad"] and found["result"] == 0, found
    assert [[step, name] for step, name, _ in found["rows"]] == [[step, name] for step, name, _ in expected]
    for (*_, a), (*_, b) in zip(found["rows"], expected, strict=True):
        assert float(a) == b or (math.isnan(float(a)) and math.isnan(b)), (a, b)


@test("metrics as Python's json, its csv, Trainer and Lightning write them have the values that were written")
def metrics(top):
    from pytorch_lightning.loggers import CSVLogger
    dice = random.Random(7)
    names = ["loss", "val/acc", "é \"x\", y", "a\nb"]
    rows = [(step, {name: dice.choice([dice.random(), dice.random() * 1e-300, 5, math.nan, math.inf, -math.inf])
                    for name in names if dice.random() < 0.7}) for step in range(300)]
    expected = [[step, name, value] for step, row in rows for name, value in row.items()]
    with (top / "metrics.jsonl").open("w") as file:
        for step, row in rows:
            file.write(json.dumps(row | {"step": step}) + "\n")
    same_rows(read("jsonl", top / "metrics.jsonl"), expected)
    with (top / "metrics.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, names + ["step"])
        writer.writeheader()
        writer.writerows({"step": step} | row for step, row in rows)
    same_rows(read("csv", top / "metrics.csv"), expected)
    with (top / "trainer_state.json").open("w") as file:
        json.dump({"best_model_checkpoint": "./x", "log_history": [row | {"step": step} for step, row in rows]}, file, indent=2, sort_keys=True)
    found = read("trainer", top / "trainer_state.json")
    assert found["best_model_checkpoint"] == "./x"
    found["rows"].sort(key=lambda row: (row[0], names.index(row[1])))
    same_rows(found, expected)
    logger = CSVLogger(top, name="logs", version=0)
    for step, row in rows:
        logger.log_metrics(row, step=step)
    logger.save()
    found = read("csv", top / "logs" / "version_0" / "metrics.csv")
    found["rows"].sort(key=lambda row: (row[0], names.index(row[1])))
    same_rows(found, expected)


if __name__ == "__main__":
    main()
