"""Where a model is trained and used: on the processor, or on a GPU."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, pairwise

import torch

from attnlib.data import PAD, Batch

_FLOAT32_ERROR = 1e-3  # of sums of 256 products of normal numbers: float32 errs by 5e-5, tf32 by 3e-2, bfloat16 by .2


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


@contextmanager
def onednn_products(device: torch.device) -> Iterator[None]:
    """Let oneDNN multiply float32 matrices inside, if it rounds no more coarsely than float32 does.

    PyTorch hands products to oneDNN where it is told that float32's precision need not be kept. A processor without
    units for bfloat16 keeps it all the same, and may be faster than with PyTorch's own choice. With such units, and on
    a GPU, precision would be lost: there nothing changes.
    """
    before = torch.get_float32_matmul_precision()
    try:
        if device.type == "cpu":
            torch.set_float32_matmul_precision("medium")
            if _error_of_products() > _FLOAT32_ERROR:
                torch.set_float32_matmul_precision(before)
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def _error_of_products() -> float:
    """Take the greatest error of products like those of a step, of a beam's step and of many words' scores."""
    rng = torch.Generator().manual_seed(0)
    b = torch.randn(256, 1024, generator=rng)
    parts = (torch.randn(rows, 256, generator=rng) for rows in (1, 64, 1000))
    return max(float((torch.matmul(a, b) - torch.matmul(a.double(), b.double())).abs().max()) for a in parts)


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
