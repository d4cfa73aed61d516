"""The Transformer with its norms ahead of its sublayers, under the budget of the plan `successors`.

See ``plans/norm-first.md``. ``python record/norm_first.py`` does the runs that are not recorded yet and writes

- ``norm_first.learning_rates.csv``: the losses that the rate is chosen by, and those at the rate where a seed failed;
- ``norm_first.csv`` and ``norm_first.clauses.csv``: each run's metrics by test set, and by number of clauses.
"""

from itertools import product
from math import inf
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from jaxtyping import Bool, Float, Int
from measures import measure, measure_rate
from recording import rates_to_try
from tables import is_recorded, replace_lines
from torch import Tensor, nn

from attnlib.alignment import sequence_mask
from attnlib.attention import AttentionOutput
from attnlib.data import Tokenizer
from attnlib.decoders import DecoderState
from attnlib.encoders import EncoderOutput
from attnlib.experiments.plan import ExperimentConfig, read_plan
from attnlib.experiments.runs import RECORDED
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

PLAN = read_plan("successors")
"""The plan of the post-norm Transformer."""

FAILED = 0.005
"""The rate at which the post-norm Transformer failed with one seed."""

METRICS = (
    *("sentences", "perplexity", "bleu_greedy", "bleu_beam", "exact_match", "exact_match_beam"),
    *("alignment_error_rate", "unfinished"),
)
"""The metrics of a run that the tables have."""


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

    def __init__(self, embedding, layers):
        super().__init__(embedding, layers)
        self.norm = nn.LayerNorm(embedding.embedding_dim)

    def forward(self, source: Int[Tensor, "batch src"], lengths: Int[Tensor, "batch"]) -> EncoderOutput:
        """Return the normalized annotations; those of padding are 0."""
        annotations, *_ = super().forward(source, lengths)
        real = sequence_mask(lengths, source.shape[1])
        annotations = torch.where(real[:, :, None], self.norm(annotations), 0.0)
        return EncoderOutput(annotations, lengths, annotations[torch.arange(len(source)), lengths - 1], ())


class NormFirstDecoder(TransformerDecoder):
    """Decoder whose norms come first, and once more before the output."""

    def __init__(self, embedding, layers):
        super().__init__(embedding, layers)
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
    sizes = {"d_model": d_model, "dim_feedforward": dim_feedforward, "num_heads": num_heads}
    post = transformer(source_vocabulary, target_vocabulary, **sizes, num_layers=num_layers, seed=seed)
    with seeded(seed):
        reading, writing = (
            [layer(**sizes) for _ in range(num_layers)] for layer in (NormFirstEncoderLayer, NormFirstDecoderLayer)
        )
        encoder = NormFirstEncoder(post.encoder.embedding, reading)
        decoder = NormFirstDecoder(post.decoder.embedding, writing)
    for ours, theirs in ((encoder, post.encoder), (decoder, post.decoder)):
        final = {f"norm.{name}": weight for name, weight in ours.norm.state_dict().items()}
        ours.load_state_dict(theirs.state_dict() | final)
    return EncoderDecoder(encoder, decoder, source_vocabulary, target_vocabulary)


def trials(losses: pd.DataFrame) -> list[tuple[float, float, int]]:
    """List the trials of learning rates that are known to be needed: rate, share of the steps, seed."""
    rule = PLAN.contents["learning_rates"]
    half = losses[losses["share"] == 0.5].assign(tuning_group="norm-first")
    rates = rates_to_try(half, "norm-first", rule)
    return [*product(rates, [0.5], rule["seeds"]), *((FAILED, 1, seed) for seed in (100, 101, 102))]


def chosen(losses: pd.DataFrame) -> float:
    """Choose the learning rate with the least mean loss after half the steps."""
    return losses[losses.share == 0.5].groupby("learning_rate").loss.mean().idxmin()


def dev_loss(config: ExperimentConfig, rate: float, share: float, seed: int) -> float:
    """Train for a share of the steps and pairs, and return the loss of the dev sentences; inf if training fails."""
    config = (config if share == 1 else PLAN.shortened(config)).replace(learning_rate=rate)
    run = measure_rate(PLAN, config.tuning_group, config, seed, PLAN.contents["learning_rates"]["clauses"])
    loss = run.tables["learning_rates"][0]["loss"]
    return inf if loss is None else loss


def train_and_measure(config: ExperimentConfig, rate: float, seed: int) -> dict[str, list[dict[str, Any]]]:
    """Train a configuration with a seed, and return its lines by test set and by number of clauses."""
    tables = measure(PLAN, config.replace(learning_rate=rate), seed).tables
    return {
        table: [{name: line[name] for name in (by, *METRICS)} for line in tables[table]]
        for by, table in (("test_set", ""), ("clauses", "clauses"))
    }


def main(folder: Path = RECORDED) -> None:
    """Run the trainings that the tables lack."""
    torch.set_num_threads(1)
    post, path = PLAN.configs["transformer"], folder / "norm_first.learning_rates.csv"
    config = post.replace(model=norm_first_transformer)
    losses = pd.read_csv(path) if path.exists() else pd.DataFrame(columns=["learning_rate", "share", "seed", "loss"])
    while missing := [key for key in trials(losses) if not (losses.iloc[:, :3] == key).all(axis=1).any()]:
        losses.loc[len(losses)] = [*missing[0], dev_loss(config, *missing[0])]
        losses.astype({"seed": int}).to_csv(path, index=False)
    runs = [("norm-first", config, chosen(losses)), ("norm-first-0.005", config, FAILED)]
    runs = [*runs[: 1 + (chosen(losses) != FAILED)], ("transformer-0.005", post, FAILED)]
    for seed, (name, of_run, rate) in product(range(10, 15), runs):
        key = {"model": name, "learning_rate": rate, "seed": seed}
        if not is_recorded("norm_first", folder, **key):
            replace_lines(train_and_measure(of_run, rate, seed), "norm_first", folder, **key)


if __name__ == "__main__":
    main()
