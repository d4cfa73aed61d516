"""The Transformer with its norms ahead of its sublayers, under the budget of the plan `successors`.

See ``plans/norm-first.md``. ``python record/norm_first.py`` does the runs that are not recorded yet and writes

- ``norm_first.learning_rates.csv``: the losses that the rate is chosen by, and those at the rate where a seed failed;
- ``norm_first.csv`` and ``norm_first.clauses.csv``: each run's metrics by test set, and by number of clauses.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd
import torch
from jaxtyping import Bool, Float, Int
from package import TABLES, dev_loss, successor, train_and_measure
from torch import Tensor, nn

from attnlib.alignment import sequence_mask
from attnlib.attention import AttentionOutput
from attnlib.data import Tokenizer
from attnlib.decoders import DecoderState
from attnlib.encoders import EncoderOutput
from attnlib.layers import seeded
from attnlib.seq2seq import EncoderDecoder
from attnlib.transformer import (
    DecoderLayer,
    EncoderLayer,
    KeysValues,
    TransformerDecoder,
    TransformerEncoder,
    transformer,
)

RATES = 0.0025, 0.005, 0.01, 0.02
KEY = ["learning_rate", "share", "seed"]
FAILED = 0.005
"""The rate at which the post-norm Transformer failed with one seed."""


class NormFirstEncoderLayer(EncoderLayer):
    """Encoder layer that normalizes what each sublayer reads (Xiong et al. 2020, table 1)."""

    def forward(
        self, x: Float[Tensor, "batch src emb"], mask: Bool[Tensor, "batch 1 1 src"]
    ) -> Float[Tensor, "batch src emb"]:
        """Return the sentence's vectors, each sublayer's output added to them."""
        normed = self.self_attention_norm.norm(x)
        x = x + self.self_attention_norm.dropout(
            self.self_attention(normed, self.self_attention.project_keys_values(normed), mask).context
        )
        return x + self.feed_forward_norm.dropout(self.feed_forward(self.feed_forward_norm.norm(x)))


class NormFirstDecoderLayer(DecoderLayer):
    """Decoder layer that normalizes what each sublayer reads; the encoder has normalized the source."""

    def forward(
        self,
        x: Float[Tensor, "batch tgt emb"],
        past: KeysValues,
        source: KeysValues,
        written: Bool[Tensor, "1 1 tgt all"],
        real: Bool[Tensor, "batch 1 1 src"],
    ) -> tuple[Float[Tensor, "batch tgt emb"], AttentionOutput, KeysValues]:
        """Return the words' vectors, the attention to the source, and the keys and values of all words."""
        normed = self.self_attention_norm.norm(x)
        keys, values = (
            torch.cat(both, 2) for both in zip(past, self.self_attention.project_keys_values(normed), strict=True)
        )
        x = x + self.self_attention_norm.dropout(self.self_attention(normed, (keys, values), written).context)
        attended = self.cross_attention(self.cross_attention_norm.norm(x), source, real)
        x = x + self.cross_attention_norm.dropout(attended.context)
        return (
            x + self.feed_forward_norm.dropout(self.feed_forward(self.feed_forward_norm.norm(x))),
            attended,
            (keys, values),
        )


class NormFirstEncoder(TransformerEncoder):
    """Encoder whose norms come first, and once more after the last layer."""

    def __init__(self, embedding, *, dim_feedforward: int, num_heads: int, num_layers: int):
        super().__init__(embedding, dim_feedforward=dim_feedforward, num_heads=num_heads, num_layers=num_layers)
        sizes = embedding.embedding_dim, dim_feedforward, num_heads
        self.layers = nn.ModuleList(NormFirstEncoderLayer(*sizes) for _ in range(num_layers))
        self.norm = nn.LayerNorm(embedding.embedding_dim)

    def forward(self, source: Int[Tensor, "batch src"], lengths: Int[Tensor, "batch"]) -> EncoderOutput:
        """Return the normalized annotations; those of padding are 0."""
        annotations, *_ = super().forward(source, lengths)
        real = sequence_mask(lengths, source.shape[1])
        annotations = torch.where(real[:, :, None], self.norm(annotations), 0.0)
        return EncoderOutput(annotations, lengths, annotations[torch.arange(len(source)), lengths - 1], ())


class NormFirstDecoder(TransformerDecoder):
    """Decoder whose norms come first, and once more before the output."""

    def __init__(self, embedding, *, dim_feedforward: int, num_heads: int, num_layers: int):
        super().__init__(embedding, dim_feedforward=dim_feedforward, num_heads=num_heads, num_layers=num_layers)
        sizes = embedding.embedding_dim, dim_feedforward, num_heads
        self.layers = nn.ModuleList(NormFirstDecoderLayer(*sizes) for _ in range(num_layers))
        self.norm = nn.LayerNorm(embedding.embedding_dim)

    def decode(
        self, ids: Int[Tensor, "batch tgt"], state: DecoderState, offset: int | Int[Tensor, "batch 1"] = 0
    ) -> tuple[Float[Tensor, "batch tgt emb"], list[AttentionOutput], DecoderState]:
        """Return what the output reads, each layer's attention to the source, and the state."""
        x, looks, after = super().decode(ids, state, offset)
        return self.norm(x), looks, after


def norm_first_transformer(
    source_vocabulary: Tokenizer,
    target_vocabulary: Tokenizer,
    *,
    d_model: int = 64,
    dim_feedforward: int = 256,
    num_heads: int = 4,
    num_layers: int = 2,
    seed: int = 0,
) -> EncoderDecoder:
    """Build a norm-first Transformer with the initial weights of the post-norm one of the same seed."""
    sizes = {"dim_feedforward": dim_feedforward, "num_heads": num_heads, "num_layers": num_layers}
    post = transformer(source_vocabulary, target_vocabulary, d_model=d_model, **sizes, seed=seed)
    with seeded(seed):
        encoder = NormFirstEncoder(post.encoder.embedding, **sizes)
        decoder = NormFirstDecoder(post.decoder.embedding, **sizes)
    for ours, theirs in ((encoder, post.encoder), (decoder, post.decoder)):
        final = {f"norm.{name}": weight for name, weight in ours.norm.state_dict().items()}
        ours.load_state_dict(theirs.state_dict() | final)
    return EncoderDecoder(encoder, decoder, source_vocabulary, target_vocabulary)


def trials(losses: pd.DataFrame) -> list[tuple[float, float, int]]:
    """List the trials of learning rates that are known to be needed: rate, share of the steps, seed."""
    tried = {*RATES, *losses.learning_rate[losses.share == 0.5]}
    means = losses[losses.share == 0.5].groupby("learning_rate").loss.agg(["mean", "count"])
    if {*means.index[means["count"] == 2]} == tried:
        best = means["mean"].idxmin()
        tried |= {best / 2} if best == min(tried) else {2 * best} if best == max(tried) else set()
    return [(rate, 0.5, seed) for rate in sorted(tried) for seed in (100, 101)] + [
        (FAILED, 1, seed) for seed in (100, 101, 102)
    ]


def chosen(losses: pd.DataFrame) -> float:
    """Choose the learning rate with the least mean loss after half the steps."""
    return losses[losses.share == 0.5].groupby("learning_rate").loss.mean().idxmin()


def main(folder: Path = TABLES) -> None:
    """Run the trainings that the tables lack."""
    torch.set_num_threads(1)
    row, path = successor(norm_first_transformer), folder / "norm_first.learning_rates.csv"
    losses = pd.read_csv(path) if path.exists() else pd.DataFrame(columns=[*KEY, "loss"])
    while missing := [
        trial for trial in trials(losses) if trial not in {*losses[KEY].itertuples(index=False, name=None)}
    ]:
        rate, share, seed = missing[0]
        loss = dev_loss(row, seed, rate, share)
        losses.loc[len(losses)] = [rate, share, seed, loss]
        losses.astype({"seed": int}).to_csv(path, index=False)
    runs = [("norm-first", row, chosen(losses)), ("norm-first-0.005", row, FAILED)]
    runs = [*runs[: 1 + (chosen(losses) != FAILED)], ("transformer-0.005", successor(), FAILED)]
    for seed in range(10, 15):
        for name, config, rate in runs:
            key = {"model": name, "learning_rate": rate, "seed": seed}
            if not recorded(folder, key):
                add(folder, key, *train_and_measure(config, seed, rate))


def recorded(folder: Path, key: Mapping) -> bool:
    """Return whether the tables have a run."""
    path = folder / "norm_first.csv"
    return path.exists() and bool((pd.read_csv(path)[[*key]] == pd.Series(key)).all(axis=1).any())


def add(folder: Path, key: Mapping, test_sets: Sequence[Mapping], clauses: Sequence[Mapping]) -> None:
    """Add a run's lines to the tables, the main one last: a run that it has is complete."""
    for name, lines in ((".clauses", clauses), ("", test_sets)):
        path = folder / f"norm_first{name}.csv"
        old = [pd.read_csv(path)] if path.exists() else []
        pd.concat([*old, pd.DataFrame([key | line for line in lines])]).to_csv(path, index=False)


if __name__ == "__main__":
    main()
