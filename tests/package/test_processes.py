"""Several processes train as one does, and the command goes on after one of them was killed."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import psutil
import pytest

import attnlib
from attnbook import load, sample
from attnlib import Vocabulary, batches

PAIRS = sample(23, seed=0, clauses=(1,))
VOCABULARIES = tuple(Vocabulary.from_sentences(pair[side] for pair in PAIRS) for side in (0, 1))

MANY = '''
import json, os, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import torch
from torch import distributed
from attnlib import training
from attntext import processes
from attnlib.batching import Corpus
from attnbook.language.sentences import sample
from attntext.loss import fused_backward
from attntext.saving import TextTraining
from attnlib.presets import luong
from attnlib.data import Vocabulary

torch.set_num_threads(1)
torch.optim.Adam([torch.zeros(1, requires_grad=True)])  # imports much, once here instead of in each child
pairs = sample(23, seed=0, clauses=(1,))
known = tuple(Vocabulary.from_sentences(side) for side in zip(*((pair.source, pair.target) for pair in pairs)))
home = Path(sys.argv[2])

def together(n, name, call):
    """Run a function in n processes, each told which it is, and give how each ended."""
    children = []
    for k in range(n):
        children.append(os.fork())
        if not children[-1]:
            where = f"file://{home / name}.meeting"
            distributed.init_process_group("gloo", init_method=where, rank=k, world_size=n)
            try:
                call(k, n, home / name)
                os._exit(0)
            finally:
                os._exit(3)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]

def curve(k, n, place, steps=70, dropout=0.0):
    translator = luong(*known, embedding_dim=6, hidden_size=8, seed=0, dropout=dropout)
    shares = Corpus.from_pairs(pairs, *known).infinite_batches(max_tokens=60, seed=0, share=(k, n))
    state = TextTraining.of(translator)
    options = {"schedule": lambda done: 1.0, "backward": fused_backward, "state": state, "on_step": processes.agree}
    history = training.train(translator, shares, steps=steps, seed=0, **options)
    weights = torch.cat([p.detach().flatten() for p in translator.parameters()])
    record = {"losses": history.losses.tolist(), "weights": weights.tolist()}
    place.with_name(f"{place.name}.{k}").write_text(json.dumps(record))

curve(0, 1, home / "one")
assert together(2, "two", curve) == [0, 0]
assert together(3, "three", lambda *which: curve(*which, steps=30)) == [0, 0, 0]
assert together(2, "dropout", lambda *which: curve(*which, steps=10, dropout=0.3)) == [0, 0]
print("as it should be")
'''
forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")


@pytest.fixture(scope="module")
def curves(tmp_path_factory):
    home = tmp_path_factory.mktemp("curves")
    command = [sys.executable, "-c", MANY, Path(attnlib.__file__).parents[1], home]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.stdout == "as it should be\n", run.stderr
    names = {"one": 1, "two": 2, "three": 3, "dropout": 2}
    return {name: [json.loads((home / f"{name}.{k}").read_text()) for k in range(n)] for name, n in names.items()}


@forks
@pytest.mark.parametrize("name", ["two", "three"])
def test_the_loss_curve_is_that_of_one_process(curves, name):
    """Also where a batch has fewer pairs than there are processes."""
    counts = [len(part.source) for part in batches(PAIRS, *VOCABULARIES, max_tokens=60, seed=0)]
    assert min(counts) < 3 < max(counts)
    alone = curves["one"][0]["losses"]
    for record in curves[name]:
        np.testing.assert_allclose(record["losses"], alone[: len(record["losses"])], rtol=0, atol=1e-4)
        assert record["weights"] == curves[name][0]["weights"]
    assert alone[-1] < 0.9 * alone[0]


@forks
def test_dropout_differs_from_process_to_process_and_weights_do_not(curves):
    first, second = curves["dropout"]
    assert first["weights"] == second["weights"]
    assert first["losses"] != curves["two"][0]["losses"][:10]


def test_the_command_says_which_process_was_killed_and_goes_on(tmp_path):
    text, dev = tmp_path / "pairs", tmp_path / "dev"
    dev.write_text("a b\ta b\n")
    text.write_text("".join(f"{' '.join(pair.source)}\t{' '.join(pair.target)}\n" for pair in PAIRS))
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    options = "--words --features 4 --max-sentences 3 --steps 99999 --eval-every 1 --save-seconds 0 --model"
    command = [*torchrun, "-m", "attntext", "train", "--source", text, "--dev", dev, *options.split(), tmp_path / "run"]
    environment = os.environ | {"PYTHONPATH": str(Path(attnlib.__file__).parents[1])}
    log = tmp_path / "log"

    def ended(after, how):
        with log.open("w") as file:
            run = subprocess.Popen(command, stdout=file, stderr=file, env=environment)
        while after not in log.read_text():
            assert run.poll() is None, log.read_text()
            time.sleep(0.02)
        how(run)
        assert run.wait() == 1  # torchrun's own status, also after Ctrl-C
        return log.read_text()

    def kill_the_second(run):
        others = psutil.Process(run.pid).children()
        next(other for other in others if other.environ().get("RANK") == "1").kill()

    first = ended("step 3", kill_the_second)
    assert "rank      : 1 (local_rank: 1)\n  exitcode  : -9" in first
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dev", "log", "pairs", "run"]
    second = ended("dev loss", lambda run: run.send_signal(signal.SIGINT))
    assert re.search(r"going on after step \d", second)
    assert f"interrupted: {tmp_path / 'run'} has the weights with the best dev score so far" in second
    assert second.count("23 sentence pairs") == 1
    assert load(tmp_path / "run").config["ended"] == "interrupted"
