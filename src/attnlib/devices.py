"""Where a model is trained and used: on the processor, or on a GPU."""

import os

import torch


def resolve_device(name: str | None = None) -> torch.device:
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
    known = ["cpu", *(["cuda"] * bool(here)), *(f"cuda:{n}" for n in range(here))]
    name = name or ("cuda" if here else "cpu")
    if name not in known:
        raise ValueError(f"device is {name!r}; expected one that is here: {', '.join(known)}")
    return torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0"))) if name == "cuda" else torch.device(name)


def bfloat16_autocast(device: torch.device) -> torch.autocast:
    """Multiply matrices in bfloat16 inside, where the device is a processor that has units for it.

    A number of bfloat16 has the range of float32 and 8 bits of precision. So are rounded the factors of a product and
    what is computed of products; weights, their gradients, losses and probabilities are kept in float32.
    """
    able = getattr(torch.cpu, "get_capabilities", dict)()  # a PyTorch that cannot tell counts as no
    units = any(able.get(name, False) for name in ("avx512_bf16", "amx_bf16"))
    return torch.autocast("cpu", torch.bfloat16, enabled=device.type == "cpu" and units, cache_enabled=False)
