"""safetensors: whole and lazy loads, saves over a file that is mapped."""

import os

import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file, save_model, load_model

from client import after_remount, fresh, main, test, view


def tensors(seed, count=8):
    torch.manual_seed(seed)
    return {f"layer.{i}.weight": torch.randn(512, 512) for i in range(count)}


def assert_holds(path, seed, count=8):
    found = load_file(path)
    expected = tensors(seed, count)
    assert found.keys() == expected.keys()
    assert all(torch.equal(found[name], expected[name]) for name in expected)


@test("a saved file loads back equal in a new process, with its metadata")
def saves(top):
    run = top / "runs" / "st"
    run.mkdir(parents=True)
    save_file(tensors(1), run / "model.safetensors", metadata={"format": "pt", "step": "1"})
    fresh(assert_holds, run / "model.safetensors", 1)
    with safe_open(run / "model.safetensors", "pt") as file:
        assert file.metadata() == {"format": "pt", "step": "1"}


@test("single tensors and slices of them are read lazily")
def lazy(top):
    with safe_open(top / "runs/st/model.safetensors", "pt") as file:
        expected = tensors(1)
        assert torch.equal(file.get_tensor("layer.7.weight"), expected["layer.7.weight"])
        assert torch.equal(file.get_slice("layer.3.weight")[100:200, ::2],
                           expected["layer.3.weight"][100:200, ::2])


@test("a smaller file saved over a larger one has no byte of the old one")
def smaller(top):
    path = top / "runs" / "st" / "over.safetensors"
    for seed, count in (1, 8), (2, 2), (3, 12), (4, 1):
        save_file(tensors(seed, count), path)
        assert path.stat().st_size < count * 2**20 + 4096
        assert_holds(path, seed, count)


@test("what was loaded from a file stays equal when another is renamed over it")
def replaced(top):
    run = top / "runs" / "st"
    loaded = load_file(run / "model.safetensors")
    save_file({name: tensor + 1 for name, tensor in loaded.items()}, run / "new.tmp")
    os.replace(run / "new.tmp", run / "model.safetensors")
    assert all(torch.equal(loaded[name], tensor) for name, tensor in tensors(1).items())
    assert all(torch.equal(tensor, loaded[name] + 1)
               for name, tensor in load_file(run / "model.safetensors").items())
    save_file(tensors(5), run / "model.safetensors")


@test("a model with shared tensors is saved and loaded")
def shared(top):
    def tied(seed):
        torch.manual_seed(seed)
        model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.Linear(64, 64))
        model[1].weight = model[0].weight
        return model
    save_model(tied(1), str(top / "tied.safetensors"))
    model = tied(2)
    load_model(model, top / "tied.safetensors")
    assert torch.equal(model[1].weight, tied(1)[0].weight)


@test("the branch's latest names the file saved last")
def latest(top):
    link = view(top, "branches/st/latest")
    assert os.readlink(link) == "../../runs/st/model.safetensors"
    assert_holds(link, 5)


@after_remount("every file still loads equal")
def remounted(top):
    assert_holds(top / "runs/st/model.safetensors", 5)
    assert_holds(top / "runs/st/over.safetensors", 4, 1)


if __name__ == "__main__":
    main()
