"""Where a model is trained and used: on the processor, or on a GPU."""

import os
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from itertools import chain, pairwise

import torch
from torch import nn

from attnlib.batches import Batch
from attnlib.checks import check_choice
from attnlib.parameters import seeded
from attnlib.vocabulary import PAD

_CPU = torch.device("cpu")

PRECISIONS = ("float32", "bfloat16")
"""What products may be computed in; weights, their gradients and their sums stay float32."""


def device_named(name: str | None = None) -> torch.device:
    """Find a device.

    Parameters
    ----------
    name : str, optional
        "cpu", "cuda", or one of several GPUs, as "cuda:1". None: a GPU if there is one. Of the processes that torchrun
        starts on a machine, each takes a GPU of its own, unless the name says which.

    Raises
    ------
    ValueError
        If there is no such device here.
    """
    here = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if name is None:
        name = "cuda" if here else "cpu"
    try:
        device = torch.device(name)
    except RuntimeError:
        device = None
    if device is None or device.type not in ("cpu", "cuda"):
        raise ValueError(f"device is {name!r}; expected cpu, cuda, or cuda:1 and so on")
    if device.type == "cuda" and device.index is None:
        device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
    if device.type == "cuda" and device.index >= here:
        there = ", ".join(["cpu", *(f"cuda:{n}" for n in range(here))])
        raise ValueError(f"device is {name!r}, which needs {device}; expected one that is here: {there}")
    return device


def moved(batches: Iterable[Batch], device: torch.device) -> Iterator[tuple[Batch, int]]:
    """Give batches on the device, each with the number of its target's real words.

    Each is on its way to a GPU while the one before it is learnt from.
    """
    gpu = device.type == "cuda"

    def sent(part: Batch) -> tuple[Batch, int]:
        there = ((x.pin_memory() if gpu else x).to(device, non_blocking=gpu) for x in part)
        return Batch(*there), int((part.target != PAD).sum())

    coming = map(sent, batches)
    yield from (ready for ready, _ in pairwise(chain(coming, [None]))) if gpu else coming


def computing_in(precision: str, device: torch.device = _CPU) -> AbstractContextManager:
    """Compute products in this precision inside.

    Raises
    ------
    ValueError
        If it is none of `PRECISIONS`, or one that this processor does not have.
    """
    check_choice(PRECISIONS, precision=precision)
    if precision == "float32":
        return nullcontext()
    if device.type == "cpu" and not processor_has_bfloat16():
        raise ValueError("precision is 'bfloat16', in which this processor computes no LSTM; expected float32 here")
    return torch.autocast(device.type, torch.bfloat16)


@cache
def processor_has_bfloat16() -> bool:
    """Try whether PyTorch computes an LSTM in bfloat16 on this processor. Without AVX-512, for one, it does not."""
    with seeded(0), torch.autocast("cpu", torch.bfloat16):
        try:
            nn.LSTM(1, 1)(torch.zeros(1, 1))
        except RuntimeError:
            return False
    return True
