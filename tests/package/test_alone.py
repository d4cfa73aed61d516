"""attnlib needs four other packages, and neither of the two that stand on it."""

import re
import subprocess
import sys
from importlib.metadata import distributions, packages_distributions, requires
from pathlib import Path

import attnlib

PACKAGE = Path(attnlib.__file__).parent
MODULES = sorted(f"attnlib.{path.stem}" for path in PACKAGE.glob("[!_]*.py"))
NEEDED = {"numpy", "torch", "array-api-compat", "jaxtyping"}

ALONE = """
import sys
from importlib import import_module
from importlib.machinery import PathFinder

class Missing(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in hidden else super().find_spec(name, path, target)

hidden = set(sys.argv[2].split())
sys.meta_path[sys.meta_path.index(PathFinder) :] = [Missing]
sys.path.insert(0, sys.argv[1])
for name in sys.argv[3:]:
    import_module(name)

from attnlib import SentencePair, Vocabulary, infinite_batches, rnn_search, train, translate
letters = Vocabulary(tuple("abcd"))
pairs = [SentencePair(tuple(word), tuple(reversed(word))) for word in ("abc", "bad", "cab", "dac")]
model = rnn_search(letters, letters, embedding_dim=5, hidden_size=7, seed=0)
losses = train(model, infinite_batches(pairs, letters, letters, max_tokens=60, seed=0), steps=10).losses
translate(model, "a b")
assert losses[-1] < losses[0]
"""


def required(names: set[str]) -> set[str]:
    """Return distributions and what they require, but not what they merely can use."""
    more = {re.split(r"[^\w.-]", line)[0] for name in names for line in requires(name) or () if "extra ==" not in line}
    installed = {name for name in more if any(distributions(name=name))}
    return names if installed <= names else required(names | installed)


def test_every_module_loads_and_trains_with_four_dependencies_alone():
    needed = {re.sub(r"[-_.]+", "-", name).lower() for name in required(NEEDED)}
    blocked = {
        module
        for module, owners in packages_distributions().items()
        if not needed & {re.sub(r"[-_.]+", "-", owner).lower() for owner in owners}
    }
    blocked |= {"attnbook", "attntext"}
    assert {"scipy", "pandas", "tqdm", "sacrebleu", "sentencepiece", "safetensors", "matplotlib"} <= blocked
    command = [sys.executable, "-c", ALONE, PACKAGE.parent, " ".join(blocked), *MODULES]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not run.returncode, run.stderr
