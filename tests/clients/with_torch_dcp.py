"""torch.distributed.checkpoint in a single process: directories <n>/ with shards and .metadata."""

import os
import shutil

import torch
import torch.distributed.checkpoint as dcp

from client import after_remount, equal, expfs, fresh, main, test, view


def state(step):
    torch.manual_seed(step)
    return {"step": torch.tensor(step),
            "model": {f"layer.{i}": torch.randn(256, 256) for i in range(8)}}


def assert_holds(directory, step):
    found = state(0)
    dcp.load(found, checkpoint_id=directory)
    expected = state(step)
    assert found["step"].item() == step
    assert all(torch.equal(found["model"][name], expected["model"][name]) for name in expected["model"])


def save(directory, step, **options):
    writer = dcp.FileSystemWriter(directory, **options)
    dcp.save(state(step), storage_writer=writer)


@test("checkpoints saved as directories load back equal in a new process")
def saves(top):
    run = top / "runs" / "dcp"
    for step in 90, 100, 110:
        save(run / str(step), step)
    for step in 90, 100, 110:
        fresh(assert_holds, run / str(step), step)


@test("one saved by several threads with a file for each tensor and a sync loads back equal")
def threads(top):
    run = top / "runs" / "dcp"
    save(run / "120", 120, single_file_per_rank=False, sync_files=True, thread_count=4)
    assert_holds(run / "120", 120)
    assert len(list((run / "120").iterdir())) == 10


@test("one saved again into its directory loads as the newer")
def again(top):
    run = top / "runs" / "dcp"
    save(run / "110", 111, overwrite=True)
    assert_holds(run / "110", 111)
    save(run / "110", 110, overwrite=True)
    assert_holds(run / "110", 110)


@test("one saved aside and renamed into place loads under its name")
def renamed(top):
    run = top / "runs" / "dcp"
    save(run / "tmp-130", 130)
    os.rename(run / "tmp-130", run / "130")
    assert_holds(run / "130", 130)


@test("the branch's latest names the directory completed last, in the order of numbers listed in step/")
def latest(top):
    branch = view(top, "branches/dcp")
    assert os.readlink(branch / "latest") == "../../runs/dcp/130"
    assert os.listdir(branch / "step") == ["90", "100", "110", "120", "130"], os.listdir(branch / "step")
    assert_holds(branch / "latest", 130)
    assert_holds(branch / "step" / "104", 100)


@test("the weights of each are those of a file of the same model, and of no other")
def weights(top):
    (top / "runs" / "plain").mkdir()
    torch.save(state(100)["model"], top / "runs/plain/step_100.pt")
    for step in 90, 100, 120:
        found = expfs(top, "diff", f"runs/dcp/{step}", "runs/plain/step_100.pt")["counts"]
        equal({kind: n for kind, n in found.items() if n}, {"equal": 8} if step == 100 else {"content": 8})


@after_remount("every checkpoint still loads equal")
def remounted(top):
    for step in 90, 100, 110, 120, 130:
        assert_holds(top / "runs" / "dcp" / str(step), step)


@after_remount("removing the directory completed last makes latest fall back")
def removed(top):
    link = view(top, "branches/dcp/latest")
    shutil.rmtree(top / "runs/dcp/130")
    assert os.readlink(link) == "../../runs/dcp/110", os.readlink(link)


if __name__ == "__main__":
    main()
