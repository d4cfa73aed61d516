"""Run one section of a notebook's claims aside from the names of its `reader`.

The section is the `code` in the file `path` that has so many lines `above` it. It assigns names of its own. A name
that it lacks is the reader's, or else one of an earlier section, so that a name that both have never hides what the
reader has. PyTorch's generator goes on where it was; no claim draws from another one that all share.
"""

import sys
from contextlib import nullcontext

torch = sys.modules.get("torch")
earlier = reader.setdefault("__claims__", {})
seen = earlier | reader
names = {**seen}
try:
    with torch.random.fork_rng([]) if torch else nullcontext():
        exec(compile("\n" * above + code, path, "exec"), names)
finally:
    earlier.update((name, value) for name, value in names.items() if value is not seen.get(name, names))
