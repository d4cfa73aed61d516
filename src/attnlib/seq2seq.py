"""An encoder and a decoder make a model (chapters 2 and 3)."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from attnlib.checks import INTEGERS, check_arrays, check_range, check_type
from attnlib.data import BOS, PAD, Tokenizer
from attnlib.decoders import DecoderState
from attnlib.mechanism import AttentionOutput


class Seq2SeqOutput(NamedTuple):
    """Output of a model for given target sentences.

    Attributes
    ----------
    logits
        Scores of words: ``logits[:, t]`` scores every word as ``target[:, t]``.
    attention : AttentionOutput or None
        The attention of all steps. None for a model without attention.
    """

    logits: Float[Tensor, "batch tgt vocab"]
    attention: AttentionOutput | None


class EncoderDecoder(nn.Module):
    """Encoder-decoder model that maps source sentences to target sentences.

    Parameters
    ----------
    encoder : module
        One of `attnlib.encoders`, or another module whose ``forward(source, lengths)`` returns what the decoder reads.
    decoder : module
        One of `attnlib.decoders`, or another module with their methods ``start``, ``step``, and ``forward``.
    source_vocabulary, target_vocabulary : Tokenizer, optional
        The mappings between words and ids. `attnlib.translation` needs them; `attnlib.training` and `attnlib.search`
        do not.

    Attributes
    ----------
    config : mapping
        The settings that a loaded model was built with. Empty for a new model.

    Examples
    --------
    >>> from attnlib import Vocabulary, encode_batch, luong
    >>> words = Vocabulary(("a", "b"))
    >>> model = luong(words, words)
    >>> ids, lengths = encode_batch([["a", "b"]], words)
    >>> type(model).__name__, model(ids, lengths, target=ids).logits.shape
    ('EncoderDecoder', torch.Size([1, 3, 6]))
    """

    encoder: Any  # for the type checker, an attribute of nn.Module is a tensor or a module
    decoder: Any
    source_vocabulary: Any  # a Tokenizer, or None
    target_vocabulary: Any

    def __init__(
        self,
        encoder: nn.Module,
        decoder: nn.Module,
        source_vocabulary: Tokenizer | None = None,
        target_vocabulary: Tokenizer | None = None,
    ):
        super().__init__()
        both = {"source_vocabulary": source_vocabulary, "target_vocabulary": target_vocabulary}
        known = {name: vocabulary for name, vocabulary in both.items() if vocabulary is not None}
        check_type(Tokenizer, "a Vocabulary or another Tokenizer", **known)
        self.encoder, self.decoder = encoder, decoder
        self.source_vocabulary, self.target_vocabulary = source_vocabulary, target_vocabulary
        self.config: Mapping[str, Any] = {}

    @property
    def vocabularies(self) -> tuple[Tokenizer, Tokenizer]:
        """Source and target vocabulary; without them, a ValueError."""
        if self.source_vocabulary is None or self.target_vocabulary is None:
            raise ValueError("model has no vocabularies; expected a model with both vocabularies")
        return self.source_vocabulary, self.target_vocabulary

    @property
    def unspaced(self) -> tuple[bool, bool]:
        """Whether source and target were texts without spaces, so that letters are linked: see `attnlib.units`."""
        source, target = self.config.get("unspaced", (False, False))
        return source, target

    def forward(
        self, source: Int[Tensor, "batch src"], lengths: Int[Tensor, "batch"], target: Int[Tensor, "batch tgt"]
    ) -> Seq2SeqOutput:
        """Compute the scores of given translations, each word from the true words before it (teacher forcing).

        Parameters
        ----------
        source
            Ids of the source words. Each sentence ends in EOS and is padded at the end.
        lengths
            The number of words of each source sentence, EOS among them.
        target
            Ids of the target words, in the same form, without BOS.

        Returns
        -------
        Seq2SeqOutput
            Scores and attention. The scores at padding have no meaning.
        """
        return Seq2SeqOutput(*self.decoder(*self.inputs(source, lengths, target)))

    def loss(
        self,
        source: Int[Tensor, "batch src"],
        lengths: Int[Tensor, "batch"],
        target: Int[Tensor, "batch tgt"],
        label_smoothing: float = 0.0,
    ) -> Float[Tensor, ""]:
        """Compute the mean cross-entropy of the true words, in nats per word. EOS counts; padding costs nothing.

        Parameters
        ----------
        source, lengths, target
            As for `forward`.
        label_smoothing : float, default 0.0
            The share of the target distribution that is spread over all words of the vocabulary.

        Notes
        -----
        Luong et al. 2015, eq. 4, where it is the sum over all sentences, and there is no smoothing.
        """
        logits, _ = self.decoder(*self.inputs(source, lengths, target))
        return cross_entropy(logits.mT, target.long(), ignore_index=PAD, label_smoothing=label_smoothing)

    def start(self, source: Int[Tensor, "batch src"], lengths: Int[Tensor, "batch"]) -> DecoderState:
        """Return the decoder state before the first word, for sentences as `forward` takes them."""
        return self.decoder.start(self._encode(source, lengths))

    def step(
        self, ids: Int[Tensor, "batch"], state: DecoderState
    ) -> tuple[Float[Tensor, "batch vocab"], AttentionOutput | None, DecoderState]:
        """Compute the scores of the next word of each sentence.

        Parameters
        ----------
        ids
            The word before, of each sentence; BOS at first.
        state : DecoderState
            The state from `start` or from the step before. It is not changed.

        Returns
        -------
        logits : tensor
            Scores of words.
        attended : AttentionOutput or None
            The attention of this step, with ``tgt = 1``. None for a model without attention.
        state : DecoderState
            The new state.
        """
        return self.decoder.step(ids.long(), state)

    def inputs(
        self, source: Int[Tensor, "batch src"], lengths: Int[Tensor, "batch"], target: Int[Tensor, "batch tgt"]
    ) -> tuple[Int[Tensor, "batch tgt"], Any]:
        """Return what the decoder reads: the word before each target word, BOS at first, and the encoded source."""
        encoded, target = self._encode(source, lengths, target=(target, INTEGERS, "batch tgt")), target.long()
        if self.target_vocabulary is not None:
            check_range(0, len(self.target_vocabulary) - 1, target=target)
        # Teacher forcing: to predict word t the decoder is given the true word t - 1, so the target moves right by one.
        before = torch.cat([target.new_full((len(target), 1), BOS), target[:, :-1]], 1)
        return before, encoded

    def _encode(self, source, lengths, **others):
        check_arrays(source=(source, INTEGERS, "batch src"), lengths=(lengths, INTEGERS, "batch"), **others)
        source, lengths = source.long(), lengths.long()
        if self.source_vocabulary is not None:
            check_range(0, len(self.source_vocabulary) - 1, source=source)
        check_range(1, source.shape[1], lengths=lengths)
        return self.encoder(source, lengths)


def check_models(**models: Any) -> None:
    """Raise a TypeError for what is no model."""
    check_type(EncoderDecoder, "an EncoderDecoder", **models)
