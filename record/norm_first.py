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
from attnlib.experiments.runs import RECORDED, mean_losses, read_table
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

    def forward(self, source: Int[Tensor, "batch src"], lengths: Int[Tensor, "batch"]) -> EncoderOutput:
        """Return the normalized annotations; those of padding are 0."""
        encoded = super().forward(source, lengths)
        real = sequence_mask(lengths, source.shape[1])[:, :, None]
        return encoded._replace(annotations=torch.where(real, self.norm(encoded.annotations), 0.0))


class NormFirstDecoder(TransformerDecoder):
    """Decoder whose norms come first, and once more before the output."""

    def decode(
        self, ids: Int[Tensor, "batch tgt"], state: DecoderState, offset: int | Int[Tensor, "batch 1"] = 0
    ) -> tuple[Float[Tensor, "batch tgt emb"], list[AttentionOutput], DecoderState]:
        """Return what the output reads, each layer's attention to the source, and the state."""
        x, looks, after = super().decode(ids, state, offset)
        return self.norm(x), looks, after


def norm_first_transformer(
    source_vocabulary: Tokenizer, target_vocabulary: Tokenizer, *, d_model: int, **options: Any
) -> EncoderDecoder:
    """Build a norm-first Transformer: the post-norm one, with its initial weights, whose parts are of other classes."""
    model = transformer(source_vocabulary, target_vocabulary, d_model=d_model, **options)
    for part, norm_first, norm_first_layer in (
        (model.encoder, NormFirstEncoder, NormFirstEncoderLayer),
        (model.decoder, NormFirstDecoder, NormFirstDecoderLayer),
    ):
        part.__class__, part.norm = norm_first, nn.LayerNorm(d_model)
        for layer in part.layers:
            layer.__class__ = norm_first_layer
    return model


def trials(losses: pd.DataFrame) -> list[dict[str, float]]:
    """List the trials of learning rates that are known to be needed."""
    rule = PLAN.contents["tuning"]
    half = losses.query("share == 0.5") if len(losses) else pd.DataFrame(columns=["learning_rate", "loss"])
    rates = rates_to_try(mean_losses(half, len(rule["seeds"])), rule["learning_rates"])
    keys = [*product(rates, [0.5], rule["seeds"]), *product([FAILED], [1], (100, 101, 102))]
    return [{"learning_rate": rate, "share": share, "seed": seed} for rate, share, seed in keys]


def chosen(losses: pd.DataFrame) -> float:
    """Choose the learning rate with the least mean loss after half the steps."""
    return mean_losses(losses.query("share == 0.5")).idxmin()


def dev_loss(config: ExperimentConfig, learning_rate: float, share: float, seed: int) -> float:
    """Train for a share of the steps and pairs, and return the loss of the dev sentences; inf if training fails."""
    run = measure_rate(PLAN, config.longer(share).replace(learning_rate=learning_rate), seed)
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
    post, table = PLAN.configs["transformer"], "norm_first.learning_rates"
    config = post.replace(model=norm_first_transformer)
    while missing := [key for key in trials(read_table(table, folder)) if not is_recorded(table, folder, **key)]:
        line = {"loss": dev_loss(config, **missing[0])}
        replace_lines({"": [line]}, table, folder, decimals=5, **missing[0])
    rate = chosen(read_table(table, folder))
    runs = [("norm-first", config, rate), ("norm-first-0.005", config, FAILED)]
    runs = [*runs[: 1 + (rate != FAILED)], ("transformer-0.005", post, FAILED)]
    for seed, (name, of_run, rate) in product(range(10, 15), runs):
        key = {"model": name, "learning_rate": rate, "seed": seed}
        if not is_recorded("norm_first", folder, **key):
            replace_lines(train_and_measure(of_run, rate, seed), "norm_first", folder, **key)


if __name__ == "__main__":
    main()
