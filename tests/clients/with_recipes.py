"""The recipes of doc/recipes for programs that train, followed as they are printed, each in the mount."""

import os
import sys
from pathlib import Path

from client import main, run, test, view

TOP = Path(__file__).resolve().parents[2]
HOME = Path(os.environ["HOME"])


def follow(top, page):
    """As one at whose home the mount is: ~/mnt."""
    view(top, "branches")
    if not (HOME / "mnt").is_symlink():
        (HOME / "mnt").symlink_to(top)
    (HOME / page).mkdir()
    programs = [Path(os.environ["EXPFS"]).parent, Path(sys.executable).parent, os.environ["PATH"]]
    print(run(sys.executable, TOP / "tests/printed.py", "--stdout", TOP / f"doc/recipes/{page}.md", HOME / page,
              env=os.environ | {"PATH": ":".join(map(str, programs)), "HF_HUB_OFFLINE": "1"}))


for page, trainer in {"torch": "a plain PyTorch loop", "lightning": "PyTorch Lightning", "trainer": "Hugging Face Trainer",
                      "weightslab": "WeightsLab", "torchlingo": "TorchLingo"}.items():
    test(f"{trainer} trains, resumes from latest and branches from an older step as the recipe prints it")(
        lambda top, page=page: follow(top, page))

if __name__ == "__main__":
    main()
