"""Several models as one (laboratory, "The papers' tables"): the mean of their probabilities and weights."""

from collections.abc import Sequence
from math import log
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from attnlib.checks import check_type
from attnlib.decoders import DecoderState
from attnlib.mechanism import AttentionOutput
from attnlib.seq2seq import EncoderDecoder, check_models


def ensemble(models: Sequence[EncoderDecoder]) -> EncoderDecoder:
    """Make one model of several, whose probabilities and weights are the means of theirs.

    Parameters
    ----------
    models : sequence of EncoderDecoder
        Models with the same vocabularies, in evaluation mode. Eight in Luong et al. 2015, section 4.2. They are not
        copied. The ensemble attends if all of them do.

    Notes
    -----
    Costs what all models cost. At every step each model reads the same words: those of the common translation.

    Examples
    --------
    >>> from attnlib import Vocabulary, rnn_search, translate_all
    >>> words = Vocabulary(("a", "b"))
    >>> models = [rnn_search(words, words, hidden_size=8, seed=seed) for seed in range(3)]
    >>> len(translate_all(models, [["a", "b"], ["b"]], max_length=4))
    2
    """
    check_type(Sequence, "a sequence of models", models=models)
    if not models:
        raise ValueError("models is empty; expected at least one model")
    check_models(**{f"models[{n}]": model for n, model in enumerate(models)})
    if differing := [n for n, model in enumerate(models) if model.vocabularies != models[0].vocabularies]:
        raise ValueError(f"models[{differing[0]}] has other vocabularies than models[0]; expected the same for all")
    parts = EnsembleEncoder(model.encoder for model in models), EnsembleDecoder(model.decoder for model in models)
    together = EncoderDecoder(*parts, *models[0].vocabularies)
    together.config = {"unspaced": models[0].unspaced}
    return together


class Members(NamedTuple):
    """What each model has: its output of the encoder, or its state; and the length of the longest source."""

    each: Sequence[Any]
    src: int


class EnsembleState(DecoderState):
    """The states of several models, in its `memory`; its own cache is empty."""

    def select(self, rows: Int[Tensor, "chosen"], *, same_sources: bool = False) -> DecoderState:
        """Return the chosen rows of all states."""
        states = [state.select(rows, same_sources=same_sources) for state in self.memory.each]
        return self._replace(memory=self.memory._replace(each=states))


class EnsembleEncoder(nn.ModuleList):
    """The encoders of several models."""

    def forward(self, source: Int[Tensor, "batch src"], lengths: Int[Tensor, "batch"]) -> Members:
        """Encode the same sentences with each encoder."""
        return Members([encoder(source, lengths) for encoder in self], source.shape[1])


class EnsembleDecoder(nn.ModuleList):
    """The decoders of several models, each with a state of its own."""

    @property
    def has_attention(self) -> bool:
        """Whether all members attend."""
        return all(decoder.has_attention for decoder in self)

    def start(self, encoded: Members) -> DecoderState:
        """Return the states before the first word."""
        states = [decoder.start(each) for decoder, each in zip(self, encoded.each, strict=True)]  # type: ignore[operator]
        return EnsembleState(Members(states, encoded.src), (), 0)

    def step(
        self, ids: Int[Tensor, "batch"], state: DecoderState
    ) -> tuple[Float[Tensor, "batch vocab"], AttentionOutput | None, DecoderState]:
        """Compute the logarithms of the mean probabilities of the next word."""
        steps = (decoder.step(ids, each) for decoder, each in zip(self, state.memory.each, strict=True))  # type: ignore[operator]
        logits, outputs, states = zip(*steps, strict=True)
        after = EnsembleState(state.memory._replace(each=states), (), state.position + 1)
        return _mean(logits), self._mean_attention(outputs, state.memory.src), after

    def forward(
        self, ids: Int[Tensor, "batch tgt"], encoded: Members
    ) -> tuple[Float[Tensor, "batch tgt vocab"], AttentionOutput | None]:
        """Compute the logarithms of the mean probabilities of all words, given the words before (teacher forcing)."""
        scored = (decoder(ids, each) for decoder, each in zip(self, encoded.each, strict=True))
        logits, outputs = zip(*scored, strict=True)
        return _mean(logits), self._mean_attention(outputs, encoded.src)

    def _mean_attention(self, outputs: Sequence[AttentionOutput | None], src: int) -> AttentionOutput | None:
        """Return the mean weights, with contexts of no features: each model has contexts of its own."""
        attended = [output for output in outputs if output is not None]
        if len(attended) < len(outputs):
            return None
        weights = torch.stack([output.to_dense(src) for output in attended]).mean(0)
        return AttentionOutput(attended[0].context[..., :0], weights)


def _mean(logits: Sequence[Float[Tensor, "*batch vocab"]]) -> Float[Tensor, "*batch vocab"]:
    """Return the logarithms of the mean probabilities."""
    # log((p_1 + ... + p_n) / n), from log p: the mean of the probabilities, not of their logarithms.
    return torch.stack([x.log_softmax(-1) for x in logits]).logsumexp(0) - log(len(logits))
