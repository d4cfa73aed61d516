"""Speed: training and decoding as `attnlib` ships them, in float32, and in OpenNMT-py and joeynmt; processes.

What is compared takes turns, and the ratios of each round are printed: between rounds a machine may get faster or
slower. Training and decoding are compared in one thread, by the time of the processor. Sentences are made up of 8,000
words, as often as in real text (Zipf), 8 to 20 of them. Models that have learnt nothing end no sentence: decoding
writes fifteen words. The peers are compared where they can be imported, from PYTHONPATH say (OpenNMT-py 3.5.1,
joeynmt 2.3.0), with the same batches, sizes and loss, and with PyTorch's own Adam.

    python benchmarks/speed.py [training] [decoding] [processes]
"""

import os
import sys
import tempfile
from functools import partial
from itertools import cycle
from pathlib import Path
from statistics import median
from time import process_time
from timeit import timeit
from types import SimpleNamespace

import numpy as np
import torch
from torch import distributed, multiprocessing, nn
from torch.nn.functional import cross_entropy

from attnlib.batching import Batch
from attnlib.data import BOS, EOS, PAD, UNK, Vocabulary
from attnlib.decoders import DeepOutput
from attnlib.presets import luong, rnn_search
from attnlib.processes import bfloat16_autocast, compute_with, fastest_settings
from attnlib.search import beam_search, greedy_search
from attnlib.training import train

SIZE, SENTENCES, WORDS, WRITTEN, ROUNDS, BATCHES = 256, 64, 8000, 15, 5, 8
DROPOUT = {"dropout": 0.3, "embedding_dropout": 0.2}
KNOWN = Vocabulary(tuple(f"w{n}" for n in range(4, WORDS)))


def made_up(batches, sentences=SENTENCES):
    """Write batches of sentence pairs whose targets are equally long, and their sources nearly so, longest first."""
    rng = np.random.default_rng(0)
    share = np.r_[[0] * 4, 1 / (10 + np.arange(WORDS - 4))]
    drawn = partial(rng.choice, WORDS, p=share / share.sum())
    for size in rng.integers(8, 20, batches):
        lengths = np.sort(rng.integers(size - 2, size + 2, sentences))[::-1].copy()
        source, target = drawn((sentences, lengths[0])), drawn((sentences, size))
        source[np.arange(lengths[0]) >= lengths[:, None]] = PAD
        source[np.arange(sentences), lengths - 1] = target[:, -1] = EOS
        yield Batch(*map(torch.from_numpy, (source, lengths, target)))


def compare(title, amount, unit, works, rounds=ROUNDS):
    """Time functions in turns, and print the first one's relative speed."""
    taken = {name: [] for name in works}
    for n in range(rounds + 1):
        for name in list(works)[:: 1 if n % 2 else -1]:
            taken[name].append(works[name]())
    print(title)
    first, *_ = (times[1:] for times in taken.values())  # the round before was to warm up
    for name, (_, *times) in taken.items():
        line = f"    {name:22}{amount / median(times):12,.0f} {unit} a second"
        if times != first:
            ratios = [theirs / ours for ours, theirs in zip(first, times, strict=True)]
            line += f"; the first is {', '.join(f'{r:.2f}' for r in ratios)} times as fast, median {median(ratios):.2f}"
        print(line, flush=True)


def as_shipped(settings, work):
    with bfloat16_autocast(torch.device("cpu")), compute_with(settings):
        return work()


def compare_with(title, amount, unit, work, peers):
    """Compare the command's choice with float32 and with the peers that are there."""
    with bfloat16_autocast(torch.device("cpu")):
        settings = fastest_settings(work, torch.device("cpu"))
    works = {"attnlib --float32": work} | {name: work for name, work in peers.items() if work}
    timed = {name: partial(timeit, work, number=1, timer=process_time) for name, work in works.items()}
    shipped = partial(as_shipped, settings, partial(timeit, work, number=1, timer=process_time))
    compare(f"{title}: {settings}", amount, unit, {"attnlib": shipped} | timed)


def peer(make, *options):
    """Make a peer's model, or none where the peer is absent."""
    try:
        return make(*options)
    except ImportError as error:
        print(f"not compared: {error}")


def opennmt(feeding):
    from onmt.decoders.decoder import InputFeedRNNDecoder, StdRNNDecoder  # noqa: PLC0415, a peer may be absent
    from onmt.encoders.rnn_encoder import RNNEncoder  # noqa: PLC0415
    from onmt.models import NMTModel  # noqa: PLC0415
    from onmt.modules import Embeddings  # noqa: PLC0415

    source, target = (Embeddings(SIZE, WORDS, PAD, dropout=0.2) for _ in range(2))
    kind = InputFeedRNNDecoder if feeding else StdRNNDecoder
    decoder = kind("LSTM", True, 1, SIZE, attn_type="dot", dropout=0.3, embeddings=target)
    model = NMTModel(RNNEncoder("LSTM", True, 1, SIZE, 0.3, source), decoder)
    model.generator = nn.Linear(SIZE, WORDS)
    return model


def opennmt_loss(model, source, lengths, target):
    words = torch.cat([torch.full((len(target), 1), BOS), target], 1)[:, :, None]
    scores = model.generator(model(source[:, :, None], words, lengths)[0])
    return cross_entropy(scores.flatten(0, 1), target.flatten(), ignore_index=PAD)


def joeynmt(kind, looks, states):
    from joeynmt.model import build_model  # noqa: PLC0415
    from joeynmt.vocabulary import Vocabulary as JoeyVocabulary  # noqa: PLC0415

    special = {"unk": "<unk>", "pad": "<pad>", "bos": "<s>", "eos": "</s>", "sep": None}
    names = {f"{name}_token": token for name, token in special.items()}
    numbers = {f"{name}_id": n for n, name in enumerate(special)}
    known = JoeyVocabulary(list(KNOWN.words), SimpleNamespace(**names, **numbers, lang_tags=[]))
    common = {"rnn_type": kind, "type": "recurrent", "embeddings": {"embedding_dim": SIZE, "dropout": 0.2}}
    encoder = common | {"hidden_size": states, "bidirectional": True}
    decoder = common | {"hidden_size": SIZE, "attention": looks, "hidden_dropout": 0.3}
    model = build_model({"encoder": encoder, "decoder": decoder}, known, known)
    model.loss_function = ("crossentropy", 0.0)
    return model


def joeynmt_batch(source, lengths, target):
    """Return a batch with joeynmt's ids of the special words."""
    number = torch.arange(WORDS)
    number[[UNK, PAD, BOS, EOS]] = torch.arange(4)
    source, target = number[source], number[target]
    words = torch.cat([torch.full((len(target), 1), 2), target[:, :-1]], 1)
    masks = {"src_mask": (source != 1)[:, None], "trg_mask": (target != 1)[:, None]}
    return {"src": source, "src_length": lengths, "trg_input": words, "trg": target} | masks


def joeynmt_loss(model, source, lengths, target):
    return model(return_type="loss", **joeynmt_batch(source, lengths, target))[0] / (target != PAD).sum()


def joeynmt_search(model, given, width=1):
    from joeynmt.search import search  # noqa: PLC0415

    search(model, SimpleNamespace(**given, has_trg=False), WRITTEN, width, 1.0, generate_unk=True)


def learning(model, loss, batches):
    """Make a function by which a peer learns from all batches."""
    optimizer = torch.optim.Adam(model.parameters())

    def learn():
        for batch in batches:
            optimizer.zero_grad()
            loss(model, *batch).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()

    return learn


def default(**options):
    return luong(KNOWN, KNOWN, encoder="bidirectional", score="dot", embedding_dim=SIZE, hidden_size=SIZE, **options)


def bahdanau():
    """Make Bahdanau's model with an output layer that reads as many features as joeynmt's."""
    model = rnn_search(KNOWN, KNOWN, embedding_dim=SIZE, hidden_size=SIZE, **DROPOUT)
    sizes = {"embedding_dim": SIZE, "decoder_size": SIZE, "encoder_size": 2 * SIZE}
    model.decoder.readout = DeepOutput(vocab_size=WORDS, **sizes, maxout=SIZE)
    return model


def compare_training():
    batches = [*made_up(BATCHES)]
    words = sum(batch.target.numel() for batch in batches)
    for title, model, name, other, loss in (
        ("the default", default(**DROPOUT), "OpenNMT-py", peer(opennmt, True), opennmt_loss),
        ("unfed", default(**DROPOUT, input_feeding=False), "OpenNMT-py", peer(opennmt, False), opennmt_loss),
        ("Bahdanau's", bahdanau(), "joeynmt", peer(joeynmt, "gru", "bahdanau", SIZE), joeynmt_loss),
    ):
        learn = partial(train, model, batches, steps=BATCHES, progress=False)
        peers = {name: other and learning(other, loss, batches)}
        compare_with(f"training, {title}", words, "target words", learn, peers)


def compare_decoding():
    batch, model, other = next(made_up(1)), default().eval(), peer(joeynmt, "lstm", "luong", SIZE // 2)
    for title, search, width in (("greedy", greedy_search, ()), ("beam of five", beam_search, (5,))):
        write = partial(search, model, batch.source, batch.lengths, WRITTEN, *width)
        peers = {"joeynmt": other and partial(joeynmt_search, other.eval(), joeynmt_batch(*batch), *width)}
        compare_with(f"decoding, {title}", SENTENCES, f"sentences of {WRITTEN} words", write, peers)


def train_together(k, processes, threads, sentences, folder):
    torch.set_num_threads(threads)
    distributed.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=k, world_size=processes)
    batches = cycle(made_up(BATCHES, sentences))
    with bfloat16_autocast(torch.device("cpu")):
        pace = train(default(**DROPOUT), batches, steps=2 * BATCHES, progress=False).words_per_second
    if k == 0:
        Path(folder, "pace").write_text(str(pace))
    distributed.destroy_process_group()


def seconds_of_a_word(*how):
    with tempfile.TemporaryDirectory() as folder:
        multiprocessing.spawn(train_together, (*how, folder), nprocs=how[0])
        return 1 / float(Path(folder, "pace").read_text())


def compare_processes():
    works = {
        "two threads": (1, 2, SENTENCES),
        "one thread": (1, 1, SENTENCES),
        "two processes": (2, 1, SENTENCES // 2),
        "two, batches of 128": (2, 1, SENTENCES),
    }
    works = {name: partial(seconds_of_a_word, *how) for name, how in works.items()}
    compare("training, the default", 1, "target words", works, rounds=3)


def describe_machine():
    """Name the processor, its units for bfloat16, and how busy it is."""
    able = torch.cpu.get_capabilities()
    units = [name for name in ("avx512_bf16", "amx_bf16") if able.get(name)]
    print(f"{able.get('cpu_name')}; {', '.join(units) or 'no bfloat16'}; load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    torch.set_num_threads(1)
    describe_machine()
    for part in sys.argv[1:] or ["training", "decoding", "processes"]:
        globals()[f"compare_{part}"]()
