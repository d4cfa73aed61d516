"""Speed: attention beside torch's; training and decoding beside OpenNMT-py and joeynmt; threads and processes.

What is compared takes turns, and the ratios of each round are printed: between rounds a machine may get faster or
slower. Sentences are made up of 8,000 words, as often as in real text (Zipf), 8 to 20 of them. Models that have learnt
nothing end no sentence: decoding writes fifteen words. The peers are compared where they can be imported (OpenNMT-py
3.5.1, joeynmt 2.3.0), with the same batches, sizes and loss, and with PyTorch's own Adam.

    python benchmarks/speed.py [attention] [training] [decoding] [processes]
"""

import sys
import tempfile
from functools import partial
from itertools import cycle
from pathlib import Path
from statistics import median
from timeit import timeit
from types import SimpleNamespace

import numpy as np
import torch
from torch import distributed, multiprocessing, nn
from torch.nn.functional import cross_entropy, scaled_dot_product_attention

from attnlib.attention import attention
from attnlib.data import BOS, EOS, PAD, UNK, Batch, Vocabulary
from attnlib.decoders import DeepOutput
from attnlib.losses import linear_cross_entropy
from attnlib.processes import bfloat16_autocast
from attnlib.search import beam_search, greedy_search
from attnlib.seq2seq import luong, rnn_search
from attnlib.training import init_training, train

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


def compare_attention():
    rng = np.random.default_rng(0)
    for kind in (np.float32, np.float64):
        q, k, v = (rng.normal(size=(4, 512, 64)).astype(kind) for _ in range(3))
        Q, K, V = map(torch.from_numpy, (q, k, v))
        works = {
            "attnlib, torch": lambda: attention(Q, K, V).context,  # noqa: B023
            "attnlib, NumPy": lambda: attention(q, k, v).context,  # noqa: B023
            "torch, plain": lambda: torch.softmax(Q @ K.mT / 8, -1) @ V,  # noqa: B023
            "torch, fused": lambda: scaled_dot_product_attention(Q, K, V),  # noqa: B023
        }
        works = {name: partial(timeit, work, number=9) for name, work in works.items()}
        compare(f"attention, {kind.__name__}, {q.shape}", 9 * q[..., 0].size, "queries", works)


def in_bfloat16(work):
    with bfloat16_autocast(torch.device("cpu")):
        return work()


def learning(model, loss, optimizer, batches):
    """Make a function that learns from all batches and gives the seconds."""

    def learn():
        for batch in batches:
            optimizer.zero_grad()
            loss(model, *batch).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()

    model.train()
    return partial(timeit, learn, number=1)


def our_loss(model, source, lengths, target):
    return linear_cross_entropy(model.extract_features(source, lengths, target), model.decoder.output_weight, target)


def opennmt_loss(model, source, lengths, target):
    words = torch.cat([torch.full((len(target), 1), BOS), target], 1)[:, :, None]
    scores = model.generator(model(source[:, :, None], words, lengths)[0])
    return cross_entropy(scores.flatten(0, 1), target.flatten(), ignore_index=PAD)


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
    from joeynmt.search import search  # noqa: PLC0415, a peer may be absent

    search(model, SimpleNamespace(**given, has_trg=False), WRITTEN, width, 1.0, generate_unk=True)


def opennmt(feeding):
    from onmt.decoders.decoder import InputFeedRNNDecoder, StdRNNDecoder  # noqa: PLC0415
    from onmt.encoders.rnn_encoder import RNNEncoder  # noqa: PLC0415
    from onmt.models import NMTModel  # noqa: PLC0415
    from onmt.modules import Embeddings  # noqa: PLC0415

    source, target = (Embeddings(SIZE, WORDS, PAD, dropout=0.2) for _ in range(2))
    kind = InputFeedRNNDecoder if feeding else StdRNNDecoder
    decoder = kind("LSTM", True, 1, SIZE, attn_type="dot", dropout=0.3, embeddings=target)
    model = NMTModel(RNNEncoder("LSTM", True, 1, SIZE, 0.3, source), decoder)
    model.generator = nn.Linear(SIZE, WORDS)
    return model


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


def peer(make, *options):
    """Make a peer's model, or none where the peer is absent."""
    try:
        return make(*options)
    except ImportError as error:
        print(f"not compared: {error}")


def bahdanau():
    """Make Bahdanau's model with an output layer that reads as many features as joeynmt's."""
    model = rnn_search(KNOWN, KNOWN, embedding_dim=SIZE, hidden_size=SIZE, **DROPOUT)
    model.decoder.readout = DeepOutput(
        vocab_size=WORDS, embedding_dim=SIZE, decoder_size=SIZE, encoder_size=2 * SIZE, maxout=SIZE
    )
    return model


def default(**options):
    return luong(KNOWN, KNOWN, encoder="bidirectional", score="dot", embedding_dim=SIZE, hidden_size=SIZE, **options)


def compare_training():
    batches = list(made_up(BATCHES))
    words = sum(batch.target.numel() for batch in batches)
    for title, model, name, other, loss in (
        ("the default", default(**DROPOUT), "OpenNMT-py", peer(opennmt, True), opennmt_loss),
        ("unfed", default(**DROPOUT, input_feeding=False), "OpenNMT-py", peer(opennmt, False), opennmt_loss),
        ("Bahdanau's", bahdanau(), "joeynmt", peer(joeynmt, "gru", "bahdanau", SIZE), joeynmt_loss),
    ):
        learn = learning(model, our_loss, init_training(model).optimizer, batches)
        works = {"attnlib": partial(in_bfloat16, learn), "attnlib --float32": learn}
        if other:
            works[name] = learning(other, loss, torch.optim.Adam(other.parameters()), batches)
        compare(f"training, {title}", words, "target words", works)


def compare_decoding():
    batch = next(made_up(1))
    model, other = default().eval(), peer(joeynmt, "lstm", "luong", SIZE // 2)
    for title, search, width in (("greedy", greedy_search, ()), ("beam of five", beam_search, (5,))):
        write = partial(timeit, partial(search, model, batch.source, batch.lengths, WRITTEN, *width), number=1)
        works = {"attnlib": partial(in_bfloat16, write), "attnlib --float32": write}
        if other:
            theirs = partial(joeynmt_search, other.eval(), joeynmt_batch(*batch), *width)
            works["joeynmt"] = partial(timeit, theirs, number=1)
        compare(f"decoding, {title}", SENTENCES, f"sentences of {WRITTEN} words", works)


def train_together(k, processes, threads, sentences, folder):
    torch.set_num_threads(threads)
    if processes > 1:
        distributed.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=k, world_size=processes)
    batches = cycle(made_up(BATCHES, sentences))
    with bfloat16_autocast(torch.device("cpu")):
        pace = train(default(**DROPOUT), batches, steps=2 * BATCHES, progress=False).words_per_second
    if k == 0:
        Path(folder, "pace").write_text(str(pace))
    if processes > 1:
        distributed.destroy_process_group()


def seconds_of_a_word(processes, threads, sentences):
    with tempfile.TemporaryDirectory() as folder:
        multiprocessing.spawn(train_together, (processes, threads, sentences, folder), processes)
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


if __name__ == "__main__":
    torch.set_num_threads(1)
    for part in sys.argv[1:] or ["attention", "training", "decoding", "processes"]:
        globals()[f"compare_{part}"]()
