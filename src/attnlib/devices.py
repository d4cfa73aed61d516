"""Where a model is trained and used: on the processor, or on a GPU."""

import os
from collections.abc import Iterable, Iterator
from itertools import chain, pairwise

import torch

from attnlib.data import PAD, Batch


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


def bfloat16_products(device: torch.device) -> torch.autocast:
    """Multiply matrices in bfloat16 inside, where the device is a processor that has units for it.

    A number of bfloat16 has the range of float32 and 8 bits of precision. So are rounded the factors of a product and
    what is computed of products; weights, their gradients, losses and probabilities are kept in float32.
    """
    can = device.type == "cpu" and _has_bfloat16()
    return torch.autocast("cpu", torch.bfloat16, enabled=can, cache_enabled=False)


def _has_bfloat16() -> bool:
    """Look whether the processor multiplies in bfloat16; a PyTorch that cannot tell counts as no."""
    capabilities = getattr(torch.cpu, "get_capabilities", dict)()
    return any(capabilities.get(name, False) for name in ("avx512_bf16", "amx_bf16"))


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
