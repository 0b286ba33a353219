"""The recipes of doc/recipes for programs that train, followed as they are printed, each in the mount."""

import os
import re
import sys
from pathlib import Path

import yaml

from client import equal, main, run, test, view

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
              env=os.environ | {"PATH": ":".join(map(str, programs)), "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}))


for page, trainer in {"torch": "a plain PyTorch loop", "lightning": "PyTorch Lightning", "trainer": "Hugging Face Trainer",
                      "weightslab": "WeightsLab", "torchlingo": "TorchLingo"}.items():
    test(f"{trainer} trains, resumes from latest and branches from an older step as the recipe prints it")(
        lambda top, page=page: follow(top, page))

@test("the recipe for Kubernetes is YAML, in which one pod shares its mount with the node and another takes it from there")
def kubernetes(top):
    page = (TOP / "doc/recipes/kubernetes.md").read_text()
    daemons, job = yaml.safe_load_all(re.search(r"^```yaml expfs.yaml\n(.*?)^```$", page, re.M | re.S)[1])
    found = []
    for resource in daemons, job:
        pod = resource["spec"]["template"]["spec"]
        [container], [volume] = pod["containers"], pod["volumes"]
        [mount] = container["volumeMounts"]
        equal((mount["name"], volume["hostPath"]["path"]), (volume["name"], "/srv/exp"))
        found.append((resource["kind"], mount["mountPropagation"], container.get("securityContext")))
    equal(found, [("DaemonSet", "Bidirectional", {"privileged": True}), ("Job", "HostToContainer", None)])
    equal(daemons["spec"]["selector"]["matchLabels"], daemons["spec"]["template"]["metadata"]["labels"])


if __name__ == "__main__":
    main()
