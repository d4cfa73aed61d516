"""Where a model is trained and used: on the processor, or on a GPU."""

import os

import torch


def resolve_device(name: str | None = None) -> torch.device:
    """Return the device of a name.

    Parameters
    ----------
    name : str, optional
        "cpu", "cuda", or one of several GPUs, as "cuda:1". If None, a GPU if there is one. Each of the processes that
        torchrun starts on a machine gets its own GPU, unless the name contains a number.

    Returns
    -------
    torch.device
        A device of this machine.

    Raises
    ------
    ValueError
        If this machine has no such device.
    """
    here = torch.cuda.device_count() if torch.cuda.is_available() else 0
    known = ["cpu", *(["cuda"] * bool(here)), *(f"cuda:{n}" for n in range(here))]
    name = name or ("cuda" if here else "cpu")
    if name not in known:
        raise ValueError(f"device is {name!r}; expected a device of this machine: {', '.join(known)}")
    return torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0"))) if name == "cuda" else torch.device(name)


def bfloat16_autocast(device: torch.device) -> torch.autocast:
    """Return a context in which matrices are multiplied in bfloat16, on processors with units for it.

    A bfloat16 number has the range of float32 and 8 bits of precision. The factors and the results of products are
    rounded to it. Weights, their gradients, losses, and probabilities stay in float32.

    Parameters
    ----------
    device : torch.device
        The device of the model. On a GPU, or on a processor without such units, the context has no effect.

    Returns
    -------
    torch.autocast
        The context.
    """
    able = getattr(torch.cpu, "get_capabilities", dict)()  # a PyTorch that cannot tell counts as no
    units = any(able.get(name, False) for name in ("avx512_bf16", "amx_bf16"))
    return torch.autocast("cpu", torch.bfloat16, enabled=device.type == "cpu" and units, cache_enabled=False)
