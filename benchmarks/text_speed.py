"""Speed at the size of a real text: training and decoding, where a step's time goes, how far that is from the peak.

The text is one of made-up words, 8,000 of them on each side, as often as in real text (Zipf), 6 to 22 words a sentence.
Decoding is by models that have learnt nothing, and so end no sentence: each gets fifteen words. The models take turns.

    python benchmarks/text_speed.py [threads]
"""

import sys
from functools import partial
from statistics import median
from time import perf_counter

import numpy as np
import torch

from attnlib.data import PAD, SentencePair, Vocabulary, batch
from attnlib.experiments.costs import products
from attnlib.losses import output_loss
from attnlib.search import beam, greedy
from attnlib.training import begin
from attnlib.translator import luong, rnn_search

SIZE, BATCH, WORDS, ROUNDS, STEPS, DECODED = 256, 64, 8000, 5, 8, 15


def made_up(batches):
    """Write sentence pairs of about one length in each batch."""
    rng = np.random.default_rng(0)
    words = np.array([f"w{n:04}" for n in range(WORDS - 4)])
    share = 1 / (10 + np.arange(len(words)))
    known = Vocabulary(tuple(words))

    def sentence(size):
        return tuple(rng.choice(words, size, p=share / share.sum()))

    sizes = [(size, size - int(rng.integers(0, 3))) for size in rng.integers(8, 23, batches)]
    pairs = [[SentencePair(sentence(src), sentence(tgt)) for _ in range(BATCH)] for src, tgt in sizes]
    return known, [batch(part, known, known) for part in pairs]


def train_once(translator, optimizer, batches):
    """Learn from every batch once, and give the seconds of each part of the steps."""
    spent = dict.fromkeys(("encoder", "decoder", "output and loss", "backward", "clip and Adam"), 0.0)
    for source, lengths, target in batches:
        times = [perf_counter()]
        optimizer.zero_grad()
        encoded = translator.encoder(source, lengths)
        times.append(perf_counter())
        read, _ = translator.decoder.before_output(target, encoded)
        times.append(perf_counter())
        loss = output_loss(read, translator.decoder.output, target)
        times.append(perf_counter())
        loss.backward()
        times.append(perf_counter())
        torch.nn.utils.clip_grad_norm_(translator.parameters(), 1.0)
        optimizer.step()
        times.append(perf_counter())
        for part, before, after in zip(spent, times, times[1:], strict=False):
            spent[part] += after - before
    return spent


def fastest_product():
    """Measure the most multiply-adds a second of a product as large as the output layer's for a batch."""
    a, b = torch.randn(8 * BATCH, SIZE), torch.randn(SIZE, WORDS)
    times = []
    for _ in range(20):
        began = perf_counter()
        a @ b
        times.append(perf_counter() - began)
    return len(a) * b.numel() / min(times)


def seconds(work):
    """Take the time that something takes."""
    began = perf_counter()
    work()
    return perf_counter() - began


def main():
    torch.set_num_threads(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
    known, batches = made_up(STEPS)
    sizes = {"emb": SIZE, "hid": SIZE, "dropout": 0.3}
    makers = {
        "luong": lambda: luong(known, known, **sizes),
        "luong, no input feeding": lambda: luong(known, known, **sizes, input_feeding=False),
        "luong, encoder both": lambda: luong(known, known, **sizes, encoder="both"),
        "rnn_search": lambda: rnn_search(known, known, **sizes),
    }
    models, untrained = ({name: make() for name, make in makers.items()} for _ in range(2))
    optimizers = {name: begin(model).optimizer for name, model in models.items()}
    parts, decoded, peaks = {name: [] for name in models}, {name: [] for name in models}, []
    for _ in range(ROUNDS):
        peaks.append(fastest_product())
        for name, model in models.items():
            parts[name].append(train_once(model.train(), optimizers[name], batches))
            arguments = untrained[name].eval(), batches[0].source, batches[0].lengths, DECODED
            decoded[name].append([seconds(partial(greedy, *arguments)), seconds(partial(beam, *arguments, 5))])
    peak = median(peaks)
    words = sum(int((part.target != PAD).sum()) for part in batches)
    print(
        f"{torch.get_num_threads()} threads, {SIZE} features, batches of {BATCH} sentences; medians of {ROUNDS} rounds"
    )
    print(f"a product alone: {2 * peak / 1e9:.0f} billion operations a second, the peak below")
    for name, model in models.items():
        whole = median(sum(spent.values()) for spent in parts[name])
        shares = ", ".join(f"{part} {median(s[part] for s in parts[name]) / whole:.0%}" for part in parts[name][0])
        forwards = sum(products(partial(model, *part)) for part in batches)
        of_peak = 3 * forwards / whole / peak  # a backward pass has twice as many
        print(f"{name}: trains on {words / whole:,.0f} target words a second, {of_peak:.0%} of the peak")
        print(f"    {shares}")
        for how, times in zip(("greedy", "beam of 5"), zip(*decoded[name], strict=True), strict=True):
            print(f"    {how}: {BATCH / median(times):,.0f} sentences of {DECODED} words a second")


if __name__ == "__main__":
    main()
