"""The demo training of contrib/demo, run as contrib/quickstart runs it."""

import os
from pathlib import Path

import yaml

from client import main, run
from tuning import tuning

CHARLM = Path(os.environ["EXPFS"]).parent / "contrib" / "demo" / "charlm"


def config(directory):
    return directory / "config.yaml"


def train(directory, checkpoint):
    command = [CHARLM, directory, "--steps", "100"]
    if checkpoint:
        rate = yaml.safe_load(config(directory).read_text())["learning_rate"]
        command += ["--lr", str(rate), "--resume", checkpoint]
    printed = run(*command)
    steps = [int(line.split()[1]) for line in printed.splitlines()]
    assert len(steps) == 2, printed
    return directory / f"checkpoint-{steps[-1]}", steps


tuning("demo", config, train, "3.00000e-03", "1.00000e-03")

if __name__ == "__main__":
    main()
