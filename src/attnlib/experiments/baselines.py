"""What Luong's models are compared with: the decoder without attention, and the concat score as the authors had it."""

from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import linear

from attnlib.checks import check_whole
from attnlib.decoders import Decoder, State
from attnlib.encoders import Encoded
from attnlib.parameters import weight
from attnlib.scores import additive


class LastStateDecoder(Decoder):
    r"""Begin where the encoder ended, and never look back.

    :math:`s_t = \mathrm{LSTM}(s_{t-1}, y_{t-1})`, and :math:`W_y s_t` scores the next word.

    Parameters
    ----------
    vocab, emb, dec : int
        Words of the target vocabulary; features of an embedding and of a state.

    Notes
    -----
    Luong et al. 2015, section 2: the model that attention is added to. A word costs ``4 * dec * (emb + dec)``
    multiply-adds, and the output's ``vocab * dec``.
    """

    attends = False

    def __init__(self, *, vocab: int, emb: int, dec: int):
        check_whole(vocab=vocab, emb=emb, dec=dec)
        super().__init__()
        self.embedding = nn.Embedding(vocab, emb)
        self.lstm = nn.LSTM(emb, dec, batch_first=True)
        self.W_y = weight(vocab, dec)

    def start(self, encoded: Encoded) -> State:
        """Begin where the encoder ended."""
        return State(encoded.summary, encoded.state, 0)

    def step(self, words: Int[Tensor, "batch"], state: State) -> tuple[Float[Tensor, "batch vocab"], None, State]:
        """Take the word before and score the next one."""
        s, after = self._read(self.embedding(words)[:, None], state.recurrent)
        return linear(s[:, 0], self.W_y), None, State(state.memory, after, state.step + 1)

    def _read(self, y, recurrent):
        s, after = self.lstm(y, tuple(x.transpose(0, 1).contiguous() for x in recurrent))
        return s, tuple(x.transpose(0, 1) for x in after)

    @property
    def output(self) -> Float[Tensor, "vocab dec"]:
        """Give the weights of the output layer."""
        return self.W_y

    def before_output(
        self, words: Int[Tensor, "batch tgt"], encoded: Encoded
    ) -> tuple[Float[Tensor, "batch tgt dec"], None]:
        """Compute the states at all positions, given for each the word before."""
        return self._read(self.embedding(words), encoded.state)[0], None


class ConcatWithIdentity(nn.Module):
    r"""The concat score whose matrix is the identity on annotations, :math:`v_a \cdot \tanh(W_a s + h)`.

    Parameters
    ----------
    W_a : ``"att dec"``
        The half of the matrix that is learnt, as it begins; annotations have `att` features.
    v_a : ``"att"``
        As it begins.

    Notes
    -----
    Luong et al. 2015, section 5.2, on why their concat score may do badly: it is what their experiments had.
    """

    def __init__(self, W_a: Float[Tensor, "att dec"], v_a: Float[Tensor, "att"]):
        super().__init__()
        self.W_a, self.v_a = nn.Parameter(W_a.clone()), nn.Parameter(v_a.clone())

    def keys(self, h: Float[Tensor, "*batch src att"]) -> Float[Tensor, "*batch src att"]:
        """Keep the annotations as they are."""
        return h

    def forward(
        self, s: Float[Tensor, "*batch tgt dec"], keys: Float[Tensor, "*batch src att"]
    ) -> Float[Tensor, "*batch tgt src"]:
        """Score states against keys: see `attnlib.scores.additive`."""
        return additive(linear(s, self.W_a), keys, self.v_a)
