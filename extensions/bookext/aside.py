"""Run one section of a notebook's claims aside from the names of its `reader`.

The section is the `code` in the file `path` that has so many lines `above` it. It assigns names of its own. A name
that it lacks is the reader's, or else one of an earlier section, so that a name that both have never hides what the
reader has. Every generator of random numbers goes on where it was.
"""

import random
import sys

Variables = dict[str, object]


class Names(dict):
    """The names of one section, and behind them those that it sees."""

    def __init__(self, reader: Variables, earlier: Variables) -> None:
        super().__init__()
        self.reader, self.earlier = reader, earlier

    def __missing__(self, name: str) -> object:
        return self.reader[name] if name in self.reader else self.earlier[name]


kept = [(random.setstate, random.getstate())]
if numpy := sys.modules.get("numpy"):
    kept.append((numpy.random.set_state, numpy.random.get_state()))
if torch := sys.modules.get("torch"):
    kept.append((torch.set_rng_state, torch.get_rng_state()))
earlier = reader.setdefault("__claims__", {})
names = Names(reader, earlier)
try:
    exec(compile("\n" * above + code, path, "exec"), names)
finally:
    earlier.update(names)
    for put_back, state in kept:
        put_back(state)
