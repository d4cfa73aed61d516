"""Memory: the most that a training on a short and on a long text of the grammar has.

    python benchmarks/memory.py

The libraries that PyTorch loads are counted too; the encoded text is what the two trainings differ by.
"""

import os
import subprocess
import sys
import tempfile

PAIRS, STEPS = (10_000, 200_000), 20


def measure(pairs):
    command = [sys.executable, "-m", "attntext"]
    with tempfile.TemporaryDirectory() as home:
        subprocess.run([*command, "toy", "text", "--train", str(pairs)], cwd=home, check=True)
        text = ["--source", "text/train.en", "--target", "text/train.fr"]
        options = ["--model", "model", "--words", "--steps", str(STEPS)]
        process = subprocess.Popen([*command, "train", *text, *options], cwd=home)
        _, status, used = os.wait4(process.pid, 0)
    most = used.ru_maxrss // (1024 if sys.platform == "linux" else 1024**2)
    print(f"{pairs:,} pairs: {most:,} MiB" if status == 0 else f"{pairs:,} pairs: ended with an error", flush=True)


if __name__ == "__main__":
    for pairs in PAIRS:
        measure(pairs)
