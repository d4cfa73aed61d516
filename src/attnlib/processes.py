"""Several processes that train one model: each learns from its share of every batch, and all keep the same weights.

``torchrun --nproc-per-node 2 -m attnlib train ...`` starts two on this machine; torchrun's own options start more on
others. Alone, a process is the first of one, and nothing here changes anything or costs anything.
"""

import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from time import monotonic, sleep

import torch
from torch import Tensor
from torch import distributed as dist

_LONGEST_WAIT = timedelta(hours=2)  # for another process, which may be making vocabularies or scoring
_ROLL_CALL = (1.0, 10.0)  # seconds for torchrun to see who failed first; and for those who are there to answer


class LostProcessError(RuntimeError):
    """Another process of the run is gone, or torchrun ends this one because another has failed."""


def count() -> int:
    """Count the processes that train together; 1: this one is alone."""
    return dist.get_world_size() if dist.is_available() and dist.is_initialized() else 1


def rank() -> int:
    """Say which of the processes this is, from 0."""
    return dist.get_rank() if count() > 1 else 0


@contextmanager
def joined(device: torch.device | str = "cpu") -> Iterator[None]:
    """Be one of the processes that torchrun started; or alone, if it started none.

    Parameters
    ----------
    device : torch.device or str
        Where gradients are: they go from process to process over gloo from processors, over nccl from GPUs.

    Raises
    ------
    SystemExit
        When another process is gone: with the status 1, after one sentence on the standard error stream.
    """
    if not {"WORLD_SIZE", "RANK", "LOCAL_RANK"} <= os.environ.keys() or os.environ["WORLD_SIZE"] == "1":
        yield
        return
    gpu = torch.device(device).type == "cuda"
    dist.init_process_group("cpu:gloo,cuda:nccl" if gpu else "gloo", timeout=_LONGEST_WAIT)
    store = dist.TCPStore(os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]), is_master=False)
    before = signal.signal(signal.SIGTERM, _on_sigterm)
    try:
        yield
    except LostProcessError:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # it ends already, and has something to say first
        said = f"process {rank()}: {_roll_call(store)}; the same command goes on from the last checkpoint"
        print(said, file=sys.stderr, flush=True)
        raise SystemExit(1) from None
    dist.destroy_process_group()
    signal.signal(signal.SIGTERM, before)


@contextmanager
def first_goes_ahead() -> Iterator[None]:
    """Let the first process do what is inside, and all the others once it has done so.

    If it raises an error, which it will report, the others end without a word.
    """
    if rank():
        if not greatest(0.0)[0]:
            raise SystemExit(2)
        yield
        return
    done = False
    try:
        yield
        done = True
    finally:
        greatest(float(done))


def greatest(*numbers: float) -> Sequence[float]:
    """Give, in place of each number, the greatest that any process has there."""
    return _exchanged(numbers, dist.ReduceOp.MAX)


def total(number: int) -> int:
    """Add up all processes' numbers."""
    return int(_exchanged([float(number)], dist.ReduceOp.SUM)[0])


def from_first(call: Callable[[], Sequence[float]], size: int) -> Sequence[float]:
    """Call the function in the first process, and tell its `size` numbers to the others, who wait."""
    return _exchanged([0.0] * size if rank() else call(), dist.ReduceOp.SUM)


def summed(parameters: Iterable[Tensor], loss: Tensor) -> Tensor:
    """Replace each gradient by the sum of all processes' gradients, and give the sum of their losses.

    Parameters
    ----------
    parameters : tensors
        The same ones, in the same order, in each process. What has no gradient counts as one of zeros.
    loss : Tensor
        One number.
    """
    if count() == 1:
        return loss
    parameters = list(parameters)
    gradients = [torch.zeros_like(p) if p.grad is None else p.grad for p in parameters]
    flat = torch.cat([*(gradient.flatten() for gradient in gradients), loss.view(1)])
    with _reaching_the_others():
        dist.all_reduce(flat)
    *parts, loss = flat.split([*(p.numel() for p in parameters), 1])
    for p, part in zip(parameters, parts, strict=True):
        p.grad = part.view_as(p)
    return loss[0].clone()


def _exchanged(numbers: Sequence[float], how: dist.ReduceOp) -> Sequence[float]:
    if count() == 1:
        return numbers
    exchanged = torch.tensor(numbers, dtype=torch.float64)
    with _reaching_the_others():
        dist.all_reduce(exchanged, how)
    return exchanged.tolist()


@contextmanager
def _reaching_the_others() -> Iterator[None]:
    """Leave out the pages that gloo and nccl say of a lost connection, none of which says whose it was."""
    try:
        yield
    except RuntimeError:
        raise LostProcessError from None


def _on_sigterm(number: int, frame: object) -> None:
    raise LostProcessError


def _roll_call(store: dist.Store) -> str:
    """Find out who is lost: who does not answer, where torchrun keeps what all processes may read."""
    began, silent = monotonic(), list(range(count()))
    try:
        store.set(f"here {rank()}", "")
        while (passed := monotonic() - began) < _ROLL_CALL[0] or (len(silent) > 1 and passed < _ROLL_CALL[1]):
            sleep(0.1)
            silent = [k for k in silent if not store.check([f"here {k}"])]
    except RuntimeError:  # it was on a machine that is lost too
        return "another process was lost"
    return f"process {', '.join(map(str, silent))} was lost" if silent else "told to end"
