"""Where the command trains and uses a model: on the processor or a GPU, by one process or several.

Each of several processes learns from its share of every batch, and all keep the same weights.
``torchrun --nproc-per-node 2 -m attntext train ...`` starts two on this machine; torchrun's own options start more on
others. A process by itself is the first of one, and nothing here changes anything.
"""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from statistics import median
from time import perf_counter, process_time
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch import distributed as dist
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from attnlib.training import TrainingState

_FEW = 500  # sentences that are computed sooner than a measurement pays
_TURNS, _GAIN = 5, 1.05  # what is not faster by a twentieth in five turns is not worth a change
_LONGEST_WAIT = timedelta(hours=2)  # for another process, which may be making vocabularies or scoring


def resolve_device(name: str | None = None) -> torch.device:
    """Return the device of a name such as "cpu", "cuda", or "cuda:1"; without a name, a GPU if there is one.

    Each of the processes that torchrun starts on a machine gets its own GPU, unless the name contains a number.

    Raises
    ------
    ValueError
        If this machine has no such device.
    """
    here = torch.cuda.device_count() if torch.cuda.is_available() else 0
    known = ["cpu", *(["cuda"] * bool(here)), *(f"cuda:{n}" for n in range(here))]
    name = name or ("cuda" if here else "cpu")
    if name == "cuda" and here:
        name = f"cuda:{os.environ.get('LOCAL_RANK', '0')}"
    if name not in known:
        raise ValueError(f"device is {name!r}; expected a device of this machine: {', '.join(known)}")
    return torch.device(name)


def bfloat16_autocast(device: torch.device, *, enabled: bool = True) -> torch.autocast:
    """Return a context in which matrices are multiplied in bfloat16, on processors with units for it.

    A bfloat16 number has the range of float32 and 8 bits of precision. The factors and the results of products are
    rounded to it. Weights, their gradients, losses, and probabilities stay in float32. On a GPU, or on a processor
    without such units, the context has no effect.
    """
    able: dict[str, bool] = getattr(torch.cpu, "get_capabilities", dict)()  # a PyTorch that cannot tell counts as no
    units = any(able.get(name, False) for name in ("avx512_bf16", "amx_bf16"))
    enabled = enabled and units and device.type == "cpu"
    return torch.autocast("cpu", torch.bfloat16, enabled=enabled, cache_enabled=False)


@contextmanager
def cast_weights_once() -> Iterator[None]:
    """Cast each weight to bfloat16 once in the enclosed block, if matrices are multiplied in it.

    The block must not change weights, and must compute gradients everywhere or nowhere.
    """
    try:
        with torch.autocast("cpu", torch.bfloat16, enabled=torch.is_autocast_enabled("cpu"), cache_enabled=True):
            yield
    finally:
        torch.clear_autocast_cache()


class ComputeSettings(NamedTuple):
    """How a processor multiplies matrices.

    Attributes
    ----------
    bfloat16 : bool, default False
        Whether it multiplies them in bfloat16: see `bfloat16_autocast`.
    num_threads : int, default 1
        The number of PyTorch's threads.
    """

    bfloat16: bool = False
    num_threads: int = 1

    def __str__(self) -> str:
        threads = "1 thread" if self.num_threads == 1 else f"{self.num_threads} threads"
        return f"{'bfloat16' if self.bfloat16 else 'float32'}, {threads}"


@contextmanager
def compute_with(settings: ComputeSettings) -> Iterator[None]:
    """Multiply matrices as the settings say in the enclosed block, as far as its surroundings admit them.

    Without `bfloat16_autocast` around the block, bfloat16 has no effect. There are no more threads than outside.
    """
    before, allowed = torch.get_num_threads(), torch.is_autocast_enabled("cpu")
    torch.set_num_threads(min(before, settings.num_threads))
    try:
        with bfloat16_autocast(torch.device("cpu"), enabled=allowed and settings.bfloat16):
            yield
    finally:
        torch.set_num_threads(before)


def fastest_settings(
    work: Callable[[], Any],
    device: torch.device,
    sentences: int = _FEW,
    *,
    log: Callable[[str], Any] = lambda line: None,
) -> ComputeSettings:
    """Measure whether bfloat16 and several threads make some work faster.

    Small models are faster in float32, and several threads are slower than one if another program uses their cores. So
    bfloat16 is judged by the time of this process alone, and threads by the wall clock. For few sentences nothing is
    measured: float32 and one thread.

    Parameters
    ----------
    work : function
        A sample of what is to be computed. It is called several times.
    device : torch.device
        The device of the model.
    sentences : int, optional
        The number of sentences of the whole.
    log : callable, optional
        Called with the result, if anything was measured.
    """
    threads = torch.get_num_threads()
    if device.type != "cpu":
        return ComputeSettings(num_threads=threads)
    best, admitted = ComputeSettings(), torch.is_autocast_enabled("cpu")
    if sentences < _FEW or not (admitted or threads > 1):
        return best
    if admitted:
        best = _faster(work, best, best._replace(bfloat16=True), process_time)
    if threads > 1:
        best = _faster(work, best, best._replace(num_threads=threads), perf_counter)
    log(f"measured to be fastest: {best}")
    return best


def _faster(
    work: Callable[[], Any], usual: ComputeSettings, other: ComputeSettings, clock: Callable[[], float]
) -> ComputeSettings:
    """Return the faster of two settings, timed in turns; the first turn of each is a warm-up."""
    seconds: dict[ComputeSettings, list[float]] = {usual: [], other: []}
    for _ in range(1 + _TURNS):
        for settings, taken in seconds.items():
            with compute_with(settings):
                began = clock()
                work()
                taken.append(clock() - began)
    before, after = (median(taken[1:]) for taken in seconds.values())
    return other if _GAIN * after < before else usual


def world_size() -> int:
    """Return the number of processes that train together."""
    return dist.get_world_size() if dist.is_initialized() else 1


def rank() -> int:
    """Return the number of this process, from 0."""
    return dist.get_rank() if dist.is_initialized() else 0


@contextmanager
def init_distributed(device: torch.device | str = "cpu") -> Iterator[None]:
    """Join the processes that torchrun started, if there are any.

    Gradients are sent over gloo between processors and over nccl between GPUs.
    """
    if os.environ.get("WORLD_SIZE", "1") == "1":
        yield
        return
    backend = "cpu:gloo,cuda:nccl" if torch.device(device).type == "cuda" else "gloo"
    dist.init_process_group(backend, timeout=_LONGEST_WAIT)
    yield
    dist.destroy_process_group()


@contextmanager
def main_process_first() -> Iterator[None]:
    """Run the enclosed block on the main process first, then on the others.

    If the block raises an error in the main process, which reports it, the others exit.
    """
    if rank():
        all_reduce_sum(0)  # which waits for the main process
    yield
    if not rank():
        all_reduce_sum(0)


def agree(state: TrainingState) -> None:
    """Let all processes count the longest time of any, and be interrupted if one is."""
    state.seconds, interrupted = all_reduce_max(state.seconds, float(state.interrupted))
    state.interrupted = bool(interrupted)


def all_reduce_max(*numbers: float) -> Sequence[float]:
    """Return the greatest value of each number over all processes."""
    return _all_reduce(torch.tensor(numbers, dtype=torch.float64), dist.ReduceOp.MAX).tolist()


def all_reduce_sum(number: int) -> int:
    """Return the sum of a number over all processes."""
    return int(_all_reduce(torch.tensor(number)))


def all_reduce_gradients(parameters: Iterable[Tensor], loss: Tensor) -> Tensor:
    """Replace each gradient by its sum over all processes, and return the sum of their losses.

    The parameters have the same order in every process. A missing gradient counts as zeros.
    """
    if world_size() == 1:
        return loss
    numbers = []
    for p in parameters:
        p.grad = torch.zeros_like(p) if p.grad is None else p.grad
        numbers.append(p.grad)
    numbers.append(loss)
    vector_to_parameters(_all_reduce(parameters_to_vector(numbers)), numbers)
    return loss


def _all_reduce(numbers: Tensor, how: dist.ReduceOp.RedOpType = dist.ReduceOp.SUM) -> Tensor:
    """Combine the numbers of all processes in place; if a process is lost, exit with one sentence."""
    if world_size() > 1:
        try:
            dist.all_reduce(numbers, how)
        except RuntimeError:
            sys.exit(f"process {rank()}: another was lost; a training goes on from its last save with the same command")
    return numbers
