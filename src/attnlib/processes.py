"""Several processes that train one model: each learns from its share of every batch, and all keep the same weights.

``torchrun --nproc-per-node 2 -m attnlib train ...`` starts two on this machine; torchrun's own options start more on
others. Alone, a process is the first of one, and nothing here changes anything.
"""

import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import NoReturn

import torch
from torch import Tensor
from torch import distributed as dist

_LONGEST_WAIT = timedelta(hours=2)  # for another process, which may be making vocabularies or scoring


def count() -> int:
    """Count the processes that train together; 1: this one is alone."""
    return dist.get_world_size() if dist.is_initialized() else 1


def rank() -> int:
    """Tell which of the processes this is, from 0."""
    return dist.get_rank() if count() > 1 else 0


@contextmanager
def joined(device: torch.device | str = "cpu") -> Iterator[None]:
    """Be one of the processes that torchrun started; or alone, if it started none.

    Parameters
    ----------
    device : torch.device or str
        Where gradients are: they go from process to process over gloo from processors, over nccl from GPUs.
    """
    if os.environ.get("WORLD_SIZE", "1") == "1":
        yield
        return
    gpu = torch.device(device).type == "cuda"
    dist.init_process_group("cpu:gloo,cuda:nccl" if gpu else "gloo", timeout=_LONGEST_WAIT)
    before = signal.signal(signal.SIGTERM, _end)  # torchrun's, when another process has failed
    yield
    signal.signal(signal.SIGTERM, before)
    dist.destroy_process_group()


@contextmanager
def first_goes_ahead() -> Iterator[None]:
    """Let the first process do what is inside, and all the others once it has done so.

    If it raises an error, which it will report, the others end without a word.
    """
    if rank() and not greatest(0.0)[0]:
        sys.exit(2)
    done = False
    try:
        yield
        done = True
    finally:
        if not rank():
            greatest(float(done))


def greatest(*numbers: float) -> Sequence[float]:
    """Replace each number by the greatest that any process has there."""
    return _exchange(torch.tensor(numbers, dtype=torch.float64), dist.ReduceOp.MAX).tolist()


def total(number: int) -> int:
    """Add up all processes' numbers."""
    return int(_exchange(torch.tensor(number)))


def from_first(call: Callable[[], Sequence[float]], size: int) -> Sequence[float]:
    """Call the function in the first process, and tell its `size` numbers to the others, who wait."""
    return _exchange(torch.tensor([0.0] * size if rank() else call(), dtype=torch.float64)).tolist()


def summed(parameters: Iterable[Tensor], loss: Tensor) -> Tensor:
    """Replace each gradient by the sum of all processes' gradients, and return the sum of their losses.

    The parameters are the same in each process, in the same order. What has no gradient counts as one of zeros.
    """
    if count() == 1:
        return loss
    for p in (parameters := list(parameters)):
        p.grad = torch.zeros_like(p) if p.grad is None else p.grad
    flat = _exchange(torch.cat([*(p.grad.flatten() for p in parameters), loss.view(1)]))
    *gradients, loss = flat.split([*(p.numel() for p in parameters), 1])
    for p, gradient in zip(parameters, gradients, strict=True):
        p.grad = gradient.view_as(p)
    return loss[0].clone()


def _exchange(numbers: Tensor, how: dist.ReduceOp = dist.ReduceOp.SUM) -> Tensor:
    """Combine all processes' numbers in place; where one is gone, end with a sentence in place of gloo's pages."""
    if count() > 1:
        try:
            dist.all_reduce(numbers, how)
        except RuntimeError:
            _end()
    return numbers


def _end(*_: object) -> NoReturn:
    sys.exit(f"process {rank()}: another was lost or told to end; the same command goes on from the last checkpoint")
