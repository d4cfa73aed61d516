"""Training throughput of the package's models beside plain versions of the same models.

The plain versions are written the way tutorials write them: the annotations are projected again at every
step, every step is done one by one, output layer included, and batches are not sorted by length. Both sides
have the same weights to learn and train on the same sentences, with the same loss and optimiser. A model's
two versions take turns within one run, so that whatever else the machine does meets both. At the end: how much of the
package's time are matrix products, and how far from the fastest that this machine does such a product alone.

    python benchmarks/training_speed.py [threads]
"""

import random
import sys
from statistics import median
from time import perf_counter

import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from torch.profiler import ProfilerActivity, profile

from attnlib.data import BOS, PAD, Vocabulary, batch
from attnlib.language.grammar import sample
from attnlib.translator import luong, rnn_encdec, rnn_search

BATCH, EMB, HID, ROUNDS = 64, 64, 128, 3
PRODUCTS = ("mm", "addmm", "bmm", "baddbmm", "addmv_")


class PlainRNNSearch(nn.Module):
    """Bahdanau's model as tutorials write it."""

    def __init__(self, source_vocab: int, target_vocab: int):
        super().__init__()
        self.source_embedding = nn.Embedding(source_vocab, EMB)
        self.encoder = nn.GRU(EMB, HID, batch_first=True, bidirectional=True)
        self.initial = nn.Linear(HID, HID, bias=False)
        self.target_embedding = nn.Embedding(target_vocab, EMB)
        self.query = nn.Linear(HID, HID, bias=False)
        self.key = nn.Linear(2 * HID, HID, bias=False)
        self.energy = nn.Linear(HID, 1, bias=False)
        self.decoder = nn.GRU(EMB + 2 * HID, HID, batch_first=True)
        self.maxout = nn.Linear(HID + EMB + 2 * HID, HID, bias=False)
        self.out = nn.Linear(HID // 2, target_vocab, bias=False)

    def forward(self, source, lengths, target):
        """Score every target word, one step at a time."""
        packed = pack_padded_sequence(self.source_embedding(source), lengths, batch_first=True, enforce_sorted=False)
        outputs, last = self.encoder(packed)
        outputs, _ = pad_packed_sequence(outputs, batch_first=True)
        hidden = torch.tanh(self.initial(last[1])).unsqueeze(0)
        mask = torch.arange(outputs.shape[1]) < lengths.unsqueeze(1)
        word = torch.full((len(source), 1), BOS)
        logits = []
        for t in range(target.shape[1]):
            embedded = self.target_embedding(word)
            energy = self.energy(torch.tanh(self.query(hidden[-1]).unsqueeze(1) + self.key(outputs))).squeeze(2)
            weights = torch.softmax(energy.masked_fill(~mask, -1e10), dim=1)
            context = torch.bmm(weights.unsqueeze(1), outputs)
            before = hidden[-1].unsqueeze(1)
            _, hidden = self.decoder(torch.cat([embedded, context], dim=2), hidden)
            maxout = self.maxout(torch.cat([before, embedded, context], dim=2)).view(len(source), -1, 2).max(dim=2)[0]
            logits.append(self.out(maxout))
            word = target[:, t : t + 1]
        return torch.stack(logits, dim=1)


class PlainLuong(nn.Module):
    """Luong's model with the general score and without input feeding, as tutorials write it."""

    def __init__(self, source_vocab: int, target_vocab: int):
        super().__init__()
        self.source_embedding = nn.Embedding(source_vocab, EMB)
        self.encoder = nn.LSTM(EMB, HID, batch_first=True)
        self.target_embedding = nn.Embedding(target_vocab, EMB)
        self.decoder = nn.LSTM(EMB, HID, batch_first=True)
        self.general = nn.Linear(HID, HID, bias=False)
        self.combine = nn.Linear(2 * HID, HID, bias=False)
        self.out = nn.Linear(HID, target_vocab, bias=False)

    def forward(self, source, lengths, target):
        """Score every target word, one step at a time."""
        packed = pack_padded_sequence(self.source_embedding(source), lengths, batch_first=True, enforce_sorted=False)
        outputs, state = self.encoder(packed)
        outputs, _ = pad_packed_sequence(outputs, batch_first=True)
        mask = torch.arange(outputs.shape[1]) < lengths.unsqueeze(1)
        word = torch.full((len(source), 1), BOS)
        logits = []
        for t in range(target.shape[1]):
            output, state = self.decoder(self.target_embedding(word), state)
            energy = torch.bmm(output, self.general(outputs).transpose(1, 2)).squeeze(1)
            weights = torch.softmax(energy.masked_fill(~mask, -1e10), dim=1)
            context = torch.bmm(weights.unsqueeze(1), outputs)
            attentional = torch.tanh(self.combine(torch.cat([context, output], dim=2)))
            logits.append(self.out(attentional).squeeze(1))
            word = target[:, t : t + 1]
        return torch.stack(logits, dim=1)


def batches_of(pairs, vocabularies, by_length):
    """Cut the sentences into batches of equally many, in their order or sorted by length; keep every fourth."""
    pairs = sorted(pairs, key=lambda pair: (len(pair.target), len(pair.source))) if by_length else pairs
    cut = [batch(pairs[i : i + BATCH], *vocabularies) for i in range(2 * BATCH, len(pairs), 4 * BATCH)]
    random.Random(0).shuffle(cut)
    return cut


def train_once(model, optimiser, batches):
    """Train on every batch once and return the target words a second, EOS among them."""
    words = sum(int((b.target != PAD).sum()) for b in batches)
    begin = perf_counter()
    for b in batches:
        optimiser.zero_grad()
        out = model(b.source, b.lengths, b.target)
        logits = out if isinstance(out, torch.Tensor) else out.logits
        cross_entropy(logits.flatten(0, 1), b.target.flatten(), ignore_index=PAD).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
    return words / (perf_counter() - begin)


def fastest_product():
    """Measure the best multiply-adds a second at the size of one GRU step: the state times the recurrent weights."""
    a, b = torch.randn(BATCH, HID), torch.randn(HID, 3 * HID)
    best = 1.0
    for _ in range(50):
        begin = perf_counter()
        for _ in range(20):
            a @ b
        best = min(best, (perf_counter() - begin) / 20)
    return a.shape[0] * b.numel() / best


def report_products(name, model, optimiser, batches):
    """Print the share of matrix products in training time, and their multiply-adds a second beside the fastest.

    An LSTM over all steps is one fused operation; its products cannot be told apart from its gates.
    """
    with profile(activities=[ProfilerActivity.CPU], with_flops=True) as report:
        train_once(model, optimiser, batches)
    events = report.key_averages()
    total = sum(event.self_cpu_time_total for event in events)
    fused = sum(event.self_cpu_time_total for event in events if "mkldnn_rnn_layer" in event.key)
    products = [event for event in events if event.key in {f"aten::{kind}" for kind in PRODUCTS}]
    spent, done = sum(e.self_cpu_time_total for e in products), sum(e.flops for e in products) / 2
    print(
        f"{name:40} products {spent / total:4.0%} of the time, at {done / spent / 1e3:3.0f} billion multiply-adds a"
        f" second (alone {fastest_product() / 1e9:3.0f}); fused LSTM {fused / total:4.0%}"
    )


def main():
    torch.set_num_threads(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
    pairs = sample(32 * BATCH, seed=0, clauses=(1, 2, 3))
    vocabularies = Vocabulary.of(p.source for p in pairs), Vocabulary.of(p.target for p in pairs)
    sizes = [len(v) for v in vocabularies]
    unsorted, bucketed = (batches_of(pairs, vocabularies, by_length) for by_length in (False, True))
    torch.manual_seed(0)
    plain_search, plain_luong = PlainRNNSearch(*sizes), PlainLuong(*sizes)
    models = {
        "rnn_search, plain": (plain_search, unsorted),
        "rnn_search": (rnn_search(*vocabularies, emb=EMB, hid=HID), bucketed),
        "luong(general), plain": (plain_luong, unsorted),
        "luong(general, input_feeding=False)": (luong(*vocabularies, input_feeding=False, emb=EMB, hid=HID), bucketed),
        "luong(general)": (luong(*vocabularies, emb=EMB, hid=HID), bucketed),
        "rnn_encdec": (rnn_encdec(*vocabularies, emb=EMB, hid=HID), bucketed),
    }
    optimisers = {name: torch.optim.Adam(model.parameters(), 1e-3) for name, (model, _) in models.items()}
    speeds = {name: [] for name in models}
    for _ in range(ROUNDS):
        for name, (model, batches) in models.items():
            speeds[name].append(train_once(model, optimisers[name], batches))
    print(f"{torch.get_num_threads()} threads, batches of {BATCH}, emb {EMB}, hid {HID}; median of {ROUNDS} rounds")
    for name in models:
        plain = "rnn_search, plain" if "rnn" in name else "luong(general), plain"
        ratio = median(ours / theirs for ours, theirs in zip(speeds[name], speeds[plain], strict=True))
        print(f"{name:40} {median(speeds[name]):8.0f} target words a second {ratio:6.2f} times plain")
    for name, (model, batches) in models.items():
        if "plain" not in name:
            report_products(name, model, optimisers[name], batches)


if __name__ == "__main__":
    main()
