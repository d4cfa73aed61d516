"""A score that no paper has, the cosine, in Luong's window and Bahdanau's decoder: ``python examples/cosine.py``."""

from random import Random

from torch import Tensor, nn
from torch.nn.functional import normalize

from attnlib import (
    AttentionLayer,
    EncoderDecoder,
    LocalMonotonic,
    SentencePair,
    Vocabulary,
    infinite_batches,
    train,
    translate_all,
)
from attnlib.decoders import BahdanauDecoder
from attnlib.encoders import BidirectionalGRU
from attnlib.layers import Embedding, seeded
from attnlib.metrics import exact_match

LETTERS = "abcdefgh"


class Cosine(nn.Module):
    """The cosine of the angle between s and W_a h, times ten: softmax of smaller numbers would be nearly even."""

    def __init__(self, decoder_size: int, encoder_size: int):
        super().__init__()
        self.W_a = nn.Linear(encoder_size, decoder_size, bias=False)

    def project_keys(self, h: Tensor) -> Tensor:
        """Compute the keys of a sentence, once."""
        return normalize(self.W_a(h), dim=-1)

    def forward(self, s: Tensor, keys: Tensor) -> Tensor:
        """Compute the scores of all keys, at every step."""
        return 10 * normalize(s, dim=-1) @ keys.mT


def build(letters: Vocabulary) -> EncoderDecoder:
    """Build a model that looks near the position that it writes."""
    with seeded(0):
        encoder = BidirectionalGRU(Embedding(len(letters), 32), 64, 64)
        attention = AttentionLayer(Cosine(64, 128), LocalMonotonic(half_width=2))
        sizes = {"decoder_size": 64, "encoder_size": 128, "maxout": 32}
        return EncoderDecoder(
            encoder, BahdanauDecoder(attention, Embedding(len(letters), 32), **sizes), letters, letters
        )


def draw(n: int, seed: int) -> list[SentencePair]:
    """Draw words of three to seven letters, each with the letters that come next in the alphabet."""
    rng = Random(seed)
    words = [tuple(rng.choices(LETTERS, k=rng.randint(3, 7))) for _ in range(n)]
    return [SentencePair(word, tuple(LETTERS[LETTERS.index(x) + 1 - len(LETTERS)] for x in word)) for word in words]


def main(steps: int = 300) -> float:
    """Train on words, and return the share of other words that are enciphered without a mistake."""
    letters, lessons, tests = Vocabulary(tuple(LETTERS)), draw(5000, seed=0), draw(100, seed=1)
    model = build(letters)
    train(model, infinite_batches(lessons, letters, letters, max_tokens=500, seed=0), steps=steps, learning_rate=0.01)
    written = [one.words for one in translate_all(model, [pair.source for pair in tests])]
    print(" ".join(tests[0].source), "->", " ".join(written[0]))
    return exact_match(written, [pair.target for pair in tests])


if __name__ == "__main__":
    print(f"{main():.0%} of the words are right")
