"""Compare `attnlib.attention` in NumPy with the code it grew from and with torch.

Each row is one run of all of them in turn, repeated in changing order; a figure is the median time, and the ratios are
the median of the ratios within a repetition, so that a machine that speeds up or slows down does not count. Each runs
a few times in a row and only the last time counts, since the libraries' threads get into each other's way.
"""

import random
import statistics
import time
from collections.abc import Callable

import numpy as np
import torch
from scipy.special import softmax

from attnlib.attention import attention, masked_softmax

SIZES = [(4, 512, 64), (1, 4096, 64)]
REPETITIONS = 15


def tutorial(queries, keys, values):
    """Compute the matrix form as the tutorial of chapter 1 has it."""
    return softmax(queries @ keys.swapaxes(-1, -2) / keys.shape[-1] ** 0.5, axis=-1) @ values


def ours(queries, keys, values):
    return attention(queries, keys, values).context


def fused_torch(queries, keys, values):
    """Compute the context without ever storing the weights."""
    return torch.nn.functional.scaled_dot_product_attention(*map(torch.from_numpy, (queries, keys, values)))


def plain_torch(queries, keys, values):
    queries, keys, values = map(torch.from_numpy, (queries, keys, values))
    return torch.softmax(queries @ keys.mT / keys.shape[-1] ** 0.5, dim=-1) @ values


def seconds(run: Callable[[], object]) -> float:
    for _ in range(3):
        run()
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def compare(*runs: Callable[[], object]) -> tuple[list[float], list[float]]:
    """Time the runs in turn. Return the median seconds of each, and the median ratio of each to the first."""
    orders = [random.sample(range(len(runs)), len(runs)) for _ in range(REPETITIONS)]
    rounds = [
        [times[n] for n in range(len(runs))] for times in ({n: seconds(runs[n]) for n in order} for order in orders)
    ]
    ratios = [[each / times[0] for each in times] for times in rounds]
    return [statistics.median(column) for column in zip(*rounds, strict=True)], [
        statistics.median(column) for column in zip(*ratios, strict=True)
    ]


def main() -> None:
    torch.set_num_threads(2)
    rng = np.random.default_rng(0)
    rivals = [ours, tutorial, fused_torch, plain_torch]
    print("attention in NumPy: milliseconds, and in brackets the time as a multiple of ours")
    print(f"{'precision':10}{'size':18}" + "".join(f"{rival.__name__:>20}" for rival in rivals))
    for precision in ("float64", "float32"):
        for size in SIZES:
            arguments = [rng.normal(size=size).astype(precision) for _ in range(3)]
            times, ratios = compare(*(lambda rival=rival: rival(*arguments) for rival in rivals))  # noqa: B023
            cells = (f"{1e3 * t:.1f} ({r:.2f})" for t, r in zip(times, ratios, strict=True))
            print(f"{precision:10}{size!s:18}" + "".join(f"{cell:>20}" for cell in cells))

    print("\nwhere our time goes, as a share of the whole")
    for precision in ("float64", "float32"):
        for size in SIZES:
            queries, keys, values = (rng.normal(size=size).astype(precision) for _ in range(3))
            scores = queries @ keys.mT
            weights = masked_softmax(scores)
            _, shares = compare(
                lambda: attention(queries, keys, values),  # noqa: B023
                lambda: queries @ keys.mT,  # noqa: B023
                lambda: masked_softmax(scores),  # noqa: B023
                lambda: weights @ values,  # noqa: B023
            )
            parts = zip(("scores", "softmax", "average"), shares[1:], strict=True)
            print(f"{precision:10}{size!s:18}" + "   ".join(f"{name} {share:.0%}" for name, share in parts))


if __name__ == "__main__":
    main()
