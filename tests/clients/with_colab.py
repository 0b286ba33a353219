"""The notebook of doc/recipes for Colab: a day on one machine, and the next one on another, with the folder in Drive alone.
It mounts a store of its own; directories stand for Drive and for the disks of the machines."""

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from client import equal, fresh, main, run, test, view

NOTEBOOK = Path(__file__).resolve().parents[2] / "doc/recipes/colab.ipynb"


def run_cells(drive, disk):
    """Runs all cells as a new kernel does; the step from which it went on, and to which."""
    path = f"{Path(os.environ['EXPFS']).parent}:{os.environ['PATH']}"
    os.environ.update(DRIVE=str(drive), WORK=str(disk), PATH=path)
    names = {}
    first = None
    try:
        for cell in json.loads(NOTEBOOK.read_text())["cells"]:
            text = "".join(cell["source"])
            if cell["cell_type"] == "code" and text.startswith("%%bash\n"):
                subprocess.run(["bash"], input=text.removeprefix("%%bash\n"), text=True, check=True)
            elif cell["cell_type"] == "code":
                exec(compile(text, NOTEBOOK, "exec"), names)
            if first is None and "state" in names:
                first = names["state"]["step"]
        assert names["export"].returncode == 0, names["export"].returncode
    finally:
        if "export" in names and names["export"].poll() is None:
            names["export"].kill()
        subprocess.run(["fusermount3", "-uzq", disk / "mnt"], check=False)
    return first or 0, names["step"]


@test("of two days on two machines the second goes on from the folder in Drive, where the newest and the best checkpoint are")
def days(top):
    import torch
    view(top, "branches")
    with tempfile.TemporaryDirectory() as scratch:
        drive = Path(scratch, "drive")
        drive.mkdir()
        for day, steps in ("1", (0, 100)), ("2", (100, 200)):
            disk = Path(scratch, day)
            equal(fresh(run_cells, drive, disk), steps)
            run(os.environ["EXPFS"], "fsck", disk / "store")
            shutil.rmtree(disk)
            folder = drive / "expfs-demo"
            equal(sorted(path.name for path in folder.iterdir()), ["best.pt", "config.yaml", "latest.pt", "metrics.jsonl"])
            equal(torch.load(folder / "latest.pt")["step"], steps[1])


if __name__ == "__main__":
    main()
