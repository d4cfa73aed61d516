"""Time and memory of one step of attention as the source grows: local attention's stay flat, global's grow.

Each row is one call of `align` for one target step of one sentence. The lengths take turns within one run, and
each figure is the median. Memory is what the call allocates, as torch's profiler counts it: all that it asks
for, and the most that is in use at once would be less.

    python benchmarks/local_attention.py
"""

from statistics import median
from time import perf_counter

import torch
from torch.profiler import ProfilerActivity, profile

from attnlib.alignment import Align
from attnlib.scores import General
from attnlib.windows import Everywhere, LocalMonotonic, LocalPredictive

SRC, HALF_WIDTH, FEATURES, ROUNDS = (100, 1_000, 10_000, 100_000), 10, 128, 300


def allocated(call):
    """Count the bytes that a call asks for."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as report:
        call()
    return sum(max(0, event.self_cpu_memory_usage) for event in report.events())


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    windows = {
        "everywhere": Everywhere(),
        "monotonic": LocalMonotonic(HALF_WIDTH),
        "predictive": LocalPredictive(FEATURES, HALF_WIDTH),
    }
    s, calls = torch.randn(1, 1, FEATURES), {}
    for name, window in windows.items():
        align = Align(General(FEATURES, FEATURES), window)
        for src in SRC:
            memory = align.remember(torch.randn(1, src, FEATURES), torch.tensor([src]))
            step = torch.tensor([src // 2])
            calls[name, src] = lambda align=align, memory=memory, step=step: align(s, memory, step)
    seconds = {which: [] for which in calls}
    with torch.inference_mode():
        memory = {which: allocated(call) for which, call in calls.items()}
        for _ in range(ROUNDS):
            for which, call in calls.items():
                begin = perf_counter()
                call()
                seconds[which].append(perf_counter() - begin)
    print(f"one step, D = {HALF_WIDTH}, {FEATURES} features; in brackets the ratio to S = 1,000")
    for name in windows:
        base_time, base_memory = median(seconds[name, 1_000]), memory[name, 1_000]
        for src in SRC:
            time, used = median(seconds[name, src]), memory[name, src]
            print(
                f"{name:10} S = {src:7,}: {1e6 * time:9.0f} µs ({time / base_time:6.2f})"
                f" {used / 1024:9.1f} KiB ({used / base_memory:6.2f})"
            )


if __name__ == "__main__":
    main()
