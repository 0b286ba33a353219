"""Values in odd forms, which with_tensors.py saves: CASES, by name functions that make one."""

import argparse
import collections
import dataclasses
import random

import numpy as np
import torch

torch.manual_seed(1)
CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


class Tagged(torch.Tensor):
    pass


class Elsewhere(torch.Tensor):
    """Its data are in another tensor, as those of DTensor are."""
    @staticmethod
    def __new__(cls, inner):
        made = torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)
        made.inner = inner
        return made

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        return function(*[a.inner if isinstance(a, cls) else a for a in args], **(kwargs or {}))


@dataclasses.dataclass
class State:
    weight: torch.Tensor
    step: int


Pair = collections.namedtuple("Pair", "left right")


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.Linear(4, 2))
        self.register_buffer("mean", torch.zeros(2, dtype=torch.float64))
        self.scale = torch.nn.Parameter(torch.tensor(2.0))


def trained():
    net = Net()
    optimizer = torch.optim.AdamW(net.parameters())
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    for _ in range(2):
        net.layers(torch.randn(5, 3)).sum().backward()
        optimizer.step()
        scheduler.step()
    return net, optimizer, scheduler


# Dense tensors

@case
def plain(): return Net().state_dict()

@case
def one_tensor(): return torch.randn(3, 2)

@case
def a_list(): return [torch.randn(2), torch.zeros(3, dtype=torch.int64)]

@case
def a_tuple_of_states(): return (Net().state_dict(), trained()[1].state_dict())

@case
def views():
    base = torch.arange(60.0)
    return {"rows": base.view(6, 10)[2:4], "columns": base.view(6, 10)[:, 3:7], "every_third": base[1::3], "all": base}

@case
def transposed(): return {"t": torch.randn(3, 5).t(), "permuted": torch.randn(2, 3, 4).permute(2, 0, 1)}

@case
def channels_last(): return {"c": torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last)}

@case
def expanded(): return {"e": torch.randn(3, 1).expand(3, 7), "scalar": torch.tensor(1.5).expand(4, 4)}

@case
def shared():
    weight = torch.randn(4, 4)
    return {"in": weight, "out": weight, "part": weight[1], "again": weight.view(16)}

@case
def empty(): return {"a": torch.empty(0), "b": torch.empty(3, 0, 2), "c": torch.empty(0, dtype=torch.int32)}

@case
def scalars(): return {"f": torch.tensor(1.0), "i": torch.tensor(7), "b": torch.tensor(True)}

@case
def many_dimensions(): return {"m": torch.randn([1, 2] * 8)}

@case
def every_dtype():
    names = ("float64 float32 float16 bfloat16 int64 int32 int16 int8 uint8 uint16 uint32 uint64 bool complex128 "
             "complex64 complex32").split()
    return {name: torch.ones(3, 2).to(getattr(torch, name)) for name in names}

@case
def float8():
    names = "float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz float8_e8m0fnu".split()
    return {name: torch.ones(5).to(getattr(torch, name)) for name in names}

@case
def float4(): return {"f": torch.ones(4, dtype=torch.uint8).view(torch.float4_e2m1fn_x2)}

@case
def float8_views():
    base = torch.ones(8, 4).to(torch.float8_e4m3fn)
    return {"t": base.t(), "row": base[3]}

@case
def conjugated(): return {"c": torch.randn(3, dtype=torch.complex64).conj(), "n": torch.randn(2)}

@case
def large(): return {"w": torch.randn(500, 600), "v": torch.randn(500, 600)[::7]}

# Other kinds of tensors

@case
def quantised(): return {"q": torch.quantize_per_tensor(torch.randn(3, 4), 0.1, 3, torch.quint8),
                         "i": torch.quantize_per_tensor(torch.randn(5), 0.1, 0, torch.qint8),
                         "w": torch.quantize_per_tensor(torch.randn(5), 0.1, 0, torch.qint32)}

@case
def quantised_by_channel():
    return {"q": torch.quantize_per_channel(torch.randn(3, 4), torch.rand(3), torch.zeros(3, dtype=torch.int64), 0,
                                            torch.qint8)}

@case
def parameters():
    marked = torch.nn.Parameter(torch.randn(4))
    marked.tag = "kept"
    return {"p": torch.nn.Parameter(torch.randn(2, 3)), "frozen": torch.nn.Parameter(torch.ones(1), requires_grad=False),
            "marked": marked}

@case
def buffers(): return {"b": torch.nn.Buffer(torch.randn(3)), "n": torch.nn.Buffer(torch.zeros(1), persistent=False)}

@case
def subclasses():
    tagged = torch.randn(3).as_subclass(Tagged)
    tagged.note = {"a": 1}
    return {"t": tagged, "p": torch.nn.Parameter(torch.randn(2).as_subclass(Tagged))}

@case
def wrapped(): return {"w": Elsewhere(torch.randn(3, 4)), "v": torch.randn(2)}

@case
def sparse(): return {"coo": torch.eye(4).to_sparse(), "coalesced": torch.eye(3).to_sparse().coalesce(),
                      "csr": torch.eye(4).to_sparse_csr(), "csc": torch.eye(5).to_sparse_csc(),
                      "bsr": torch.eye(4).to_sparse_bsr((2, 2))}

@case
def on_no_device(): return {"m": torch.empty(1000, 1000, device="meta"), "h": torch.empty(3, device="meta").half()}

# Containers and keys

@case
def nested(): return {"a": {"b": {"c": [torch.randn(1), {"d": (torch.randn(2), torch.randn(3))}]}}}

@case
def lists_of_dicts(): return {"layers": [{"w": torch.randn(i + 1), "b": torch.zeros(1)} for i in range(12)]}

@case
def ordered(): return collections.OrderedDict(z=torch.randn(1), a=collections.OrderedDict(m=torch.randn(2)))

@case
def defaults():
    counted = collections.defaultdict(list)
    counted["w"].append(torch.randn(2))
    return counted

@case
def queues(): return {"q": collections.deque([torch.randn(2), torch.randn(3)], maxlen=5)}

@case
def named_tuples(): return {"p": Pair(torch.randn(1), [torch.randn(2)])}

@case
def non_ascii_keys(): return {"größe": {"权重": torch.randn(2)}, "🙂": torch.randn(1), "a b\tc\n": torch.randn(1)}

@case
def integer_keys(): return {0: torch.randn(1), 1000: {70000: torch.randn(2), -3: torch.randn(1), 2**40: torch.randn(1)}}

@case
def other_keys(): return {None: torch.randn(1), True: torch.randn(2)}

@case
def dots_and_colons(): return {"a.b": {"c:d": torch.randn(1)}, "a": {"b.c:d": torch.randn(1)}, "": {"": torch.randn(1), "x": torch.randn(1)},
                               "back\\slash": torch.randn(2)}

@case
def same_value_twice():
    inner = {"w": torch.randn(2)}
    return {"first": inner, "second": inner, "third": [inner, inner]}

@case
def itself():
    cycle = {"w": torch.randn(2)}
    cycle["self"] = cycle
    return cycle

@case
def objects(): return {"state": State(torch.randn(3), 4), "args": argparse.Namespace(lr=0.1, init=torch.zeros(1))}

@case
def many_tensors(): return {f"layer.{i}.weight": torch.full((2,), float(i)) for i in range(3000)}

@case
def many_numbers(): return {"losses": [i / 3 for i in range(50000)], "ids": list(range(50000)), "w": torch.randn(1)}

@case
def big_integers(): return {"huge": 2**200, "minus": -2**200, "w": torch.randn(1), "step": 2**63, "global_step": 11}

@case
def no_tensors(): return {"step": 3, "text": "x"}

@case
def nothing(): return None

# Steps

@case
def step_by_order(): return {"iteration": 5, "global_step": 3, "step": 2, "w": torch.ones(1)}

@case
def step_in_state(): return {"state": {"global_step": 9, "epoch": 2}, "iter_num": 4, "w": torch.ones(1)}

@case
def step_as_tensor(): return {"step": torch.tensor(41), "epoch": torch.tensor(3, dtype=torch.int16), "w": torch.ones(1)}

@case
def step_that_is_none(): return {"step": 1.5, "global_step": True, "iter_num": -4, "iteration": 8, "w": torch.ones(1)}

@case
def step_as_text(): return {"step": "12", "w": torch.ones(1)}

@case
def step_as_whole_float(): return {"step": 2.5, "global_step": 12.0, "epoch": float("nan"), "w": torch.ones(1)}

@case
def step_of_numpy(): return {"step": np.uint8(200), "epoch": np.int64(-300), "w": torch.ones(1)}

@case
def step_of_numpy_that_is_none(): return {"step": np.float32(2), "global_step": np.bool_(True), "iter_num": np.uint64(2**63),
                                          "iteration": np.int64(2**40 + 200), "w": torch.ones(1)}

# What programs write

@case
def weightslab():
    net, optimizer, _ = trained()
    return {"step": 100, "timestamp": "2026-11-30T01:02:38", "model_state_dict": net.state_dict(), "exp_hash": "0" * 24,
            "rng_state": {"python_random": random.getstate(), "torch_rng": torch.get_rng_state(),
                          "numpy_random": np.random.get_state(), "torch_cuda_rng": [torch.get_rng_state()]},
            "optimizer_state_dict": optimizer.state_dict(), "metadata": {"notes": ""}}

@case
def torchlingo():
    net, optimizer, scheduler = trained()
    return {"state": {"epoch": -1, "batches_into_epoch": 3, "global_step": 17, "best_val_loss": float("inf"),
                      "train_losses": [0.5, 0.25], "metrics": {}},
            "model": net.state_dict(), "optimizer": optimizer.state_dict(), "scheduler": scheduler.state_dict(),
            "scaler": None, "rng": {"torch": torch.get_rng_state(), "cuda": [], "python": random.getstate(),
                                    "numpy": np.random.get_state()}}

@case
def lightning():
    net, optimizer, scheduler = trained()
    return {"epoch": 2, "global_step": 200, "pytorch-lightning_version": "2.6.6", "state_dict": net.state_dict(),
            "loops": {"fit_loop": {"state_dict": {}, "epoch_progress": {"current": {"ready": 3}}}},
            "callbacks": {"EarlyStopping{'monitor': 'loss'}": {"best_score": torch.tensor(0.5)}},
            "optimizer_states": [optimizer.state_dict()], "lr_schedulers": [scheduler.state_dict()],
            "hparams_name": "kwargs", "hyper_parameters": {"lr": 0.1}}

@case
def hugging_face(): return collections.OrderedDict((f"model.{k}", v) for k, v in Net().state_dict().items())

@case
def deepspeed():
    net, optimizer, _ = trained()
    return {"module": net.state_dict(), "optimizer": optimizer.state_dict(), "lr_scheduler": None, "global_steps": 4,
            "buffer_names": ["mean"], "param_shapes": [{k: v.shape for k, v in net.named_parameters()}]}

@case
def nano_gpt():
    net, optimizer, _ = trained()
    return {"model": net.state_dict(), "optimizer": optimizer.state_dict(), "model_args": {"n_layer": 2},
            "iter_num": 5000, "best_val_loss": torch.tensor(1.25), "config": {"seed": 1}}

@case
def without_a_model_key():
    net, optimizer, scheduler = trained()
    return {"encoder": net.state_dict(), "decoder": {"w": torch.randn(2)}, "optim_g": optimizer.state_dict(),
            "lr_scheduler": {"t": torch.ones(1)}, "grad_scaler": {"scale": torch.ones(1)}, "rng_states": [torch.ones(1)],
            "torch_rng": torch.get_rng_state(), "cuda_rng_state": torch.get_rng_state(), "amp": {"s": torch.ones(1)},
            "opt_state": [torch.ones(1)], "scaler": torch.ones(3), "iteration": 6}

@case
def model_key_of_something_else(): return {"model": "resnet", "state_dict": {}, "module": {"w": torch.ones(1)},
                                           "extra": torch.ones(2)}

@case
def ema_beside():
    net = Net()
    return {"model": net.state_dict(), "ema": net.state_dict(), "epoch": 3}

@case
def a_whole_module(): return Net()

@case
def a_module_under_a_key(): return {"model": Net(), "epoch": 1, "optimizer": None}

@case
def only_an_optimizer(): return {"optimizer": trained()[1].state_dict(), "step": 1}

# Numpy inside

@case
def numpy_inside(): return {"n": np.float32(1.5), "i": np.int64(3), "a": np.arange(6).reshape(2, 3), "w": torch.randn(1),
                            "o": np.array([{"x": 1}, None], dtype=object)}

@case
def random_states(): return {"python": random.getstate(), "numpy": np.random.get_state(), "torch_rng": torch.get_rng_state(),
                             "generator": np.random.default_rng(1).bit_generator.state}
