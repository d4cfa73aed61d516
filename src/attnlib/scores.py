"""Scores of both papers (chapters 2 and 3): how well a query matches a key.

A score projects the annotations once per sentence, ``keys = score.project_keys(h)``, and compares them with decoder
states at every step, ``e = score(s, keys)``. The equations that need no weights of their own, `dot` and `additive`, are
functions on NumPy arrays and torch tensors alike. The classes own the weights and nothing else: bare
parameters with the papers' names, no biases. They refuse annotations of another size than they were made for, and
trust all other shapes in their signatures.

========== ================================== ==================================
class      e                                  weights
========== ================================== ==================================
`Dot`      s · h
`General`  s · W_a h                          W_a (dec, enc)
`Additive` v_a · tanh(W_a s + U_a h)          W_a (att, dec), U_a (att, enc), v_a (att)
`Concat`   v_a · tanh(W_a [s; h])             W_a (att, dec + enc), v_a (att)
`Location` W_a s, whatever h                  W_a (max_src, dec)
========== ================================== ==================================
"""

from array_api_compat import array_namespace, is_torch_array
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import linear

from attnlib.checks import check_whole
from attnlib.layers import weight
from attnlib.shapes import Array


def dot(s: Float[Array, "*batch tgt d"], h: Float[Array, "*batch src d"]) -> Float[Array, "*batch tgt src"]:
    r"""Compute the dot product of every query with every key, :math:`e_{t,i} = s_t \cdot h_i`, without a scale.

    Notes
    -----
    Costs ``batch * tgt * src * d`` multiply-adds. Luong et al. 2015, section 3.1, "dot".
    """
    return s @ h.mT


def additive(
    queries: Float[Array, "*batch tgt att"], keys: Float[Array, "*batch src att"], v_a: Float[Array, "att"]
) -> Float[Array, "*batch tgt src"]:
    r"""Compute scores by a network with one hidden layer, :math:`e_{t,i} = v_a \cdot \tanh(W_a s_{t-1} + U_a h_i)`.

    The queries are projected states, :math:`W_a s`, and the keys projected annotations, :math:`U_a h`.

    Notes
    -----
    Costs ``batch * tgt * src * att`` hyperbolic tangents, and memory for as many numbers: the most expensive score.
    Bahdanau et al. 2015, appendix A.1.2; Luong et al. 2015, section 3.1, "concat".
    """
    # (tgt, 1, att) + (1, src, att): each query meets each key. In training this is the largest tensor of all.
    hidden = queries[..., :, None, :] + keys[..., None, :, :]
    return (hidden.tanh_() if is_torch_array(hidden) else array_namespace(hidden).tanh(hidden)) @ v_a


def _projected(h: Float[Tensor, "*batch src enc"], W: Float[Tensor, "att enc"]) -> Float[Tensor, "*batch src att"]:
    """Compute W h, or raise a ValueError for annotations of another size."""
    if h.shape[-1] != W.shape[1]:
        raise ValueError(f"h has {h.shape[-1]} features; expected {W.shape[1]}, the encoder_size of the score")
    return linear(h, W)


class Dot(nn.Module):
    """The dot score (Luong et al. 2015, section 3.1, "dot").

    States and annotations need the same number of features.
    """

    def project_keys(self, h: Float[Tensor, "*batch src enc"]) -> Float[Tensor, "*batch src enc"]:
        """Return the annotations unchanged."""
        return h

    def forward(
        self, s: Float[Tensor, "*batch tgt key"], keys: Float[Tensor, "*batch src key"]
    ) -> Float[Tensor, "*batch tgt src"]:
        """Compute scores by `dot`."""
        return dot(s, keys)


class General(Dot):
    """The general score, s · W_a h (Luong et al. 2015, section 3.1, "general")."""

    def __init__(self, decoder_size: int, encoder_size: int):
        super().__init__()
        check_whole(decoder_size=decoder_size, encoder_size=encoder_size)
        self.W_a = weight(decoder_size, encoder_size)

    def project_keys(self, h: Float[Tensor, "*batch src enc"]) -> Float[Tensor, "*batch src dec"]:
        """Compute the keys W_a h: ``batch * src * enc * dec`` multiply-adds."""
        return _projected(h, self.W_a)


class Additive(nn.Module):
    """Score by `additive`, a network with `attention_size` hidden units (Bahdanau et al. 2015, appendix A.1.2)."""

    def __init__(self, decoder_size: int, encoder_size: int, attention_size: int):
        super().__init__()
        check_whole(decoder_size=decoder_size, encoder_size=encoder_size, attention_size=attention_size)
        self.W_a, self.U_a = weight(attention_size, decoder_size), weight(attention_size, encoder_size)
        self.v_a = weight(attention_size)

    def project_keys(self, h: Float[Tensor, "*batch src enc"]) -> Float[Tensor, "*batch src att"]:
        """Compute the keys U_a h, which no state changes: ``batch * src * enc * att`` multiply-adds."""
        return _projected(h, self.U_a)

    def forward(
        self, s: Float[Tensor, "*batch tgt dec"], keys: Float[Tensor, "*batch src att"]
    ) -> Float[Tensor, "*batch tgt src"]:
        """Compute scores by `additive`."""
        return additive(linear(s, self.W_a), keys, self.v_a)


class Concat(nn.Module):
    """The concat score, v_a · tanh(W_a [s; h]): `additive` with one matrix for state and annotation.

    The product of a matrix and two stacked vectors is the sum of two products, so this is `Additive` with
    W_a = [W_a, U_a] (Luong et al. 2015, section 3.1, "concat").
    """

    def __init__(self, decoder_size: int, encoder_size: int, attention_size: int):
        super().__init__()
        check_whole(decoder_size=decoder_size, encoder_size=encoder_size, attention_size=attention_size)
        self.dec = decoder_size
        self.W_a, self.v_a = weight(attention_size, decoder_size + encoder_size), weight(attention_size)

    def project_keys(self, h: Float[Tensor, "*batch src enc"]) -> Float[Tensor, "*batch src att"]:
        """Compute the annotations' part of the hidden layer: ``batch * src * enc * att`` multiply-adds."""
        # W_a [s; h] = W_a[:, :dec] s + W_a[:, dec:] h, and the second product is the same at every target position.
        return _projected(h, self.W_a[:, self.dec :])

    def forward(
        self, s: Float[Tensor, "*batch tgt dec"], keys: Float[Tensor, "*batch src att"]
    ) -> Float[Tensor, "*batch tgt src"]:
        """Compute scores by `additive`."""
        return additive(linear(s, self.W_a[:, : self.dec]), keys, self.v_a)


class Location(nn.Module):
    """The location score, W_a s (Luong et al. 2015, eq. 8), which does not depend on the annotations.

    The softmax is over the positions of the sentence. In the paper it is over all `max_src`; a short sentence uses the
    first weights, and of a long one the end is ignored (footnote 6). Here a longer sentence is refused.

    Parameters
    ----------
    decoder_size : int
        Features of a decoder state.
    max_src : int
        The most words that a source may have, EOS among them. Row `i` of W_a is for position `i`.
    """

    def __init__(self, decoder_size: int, max_src: int):
        super().__init__()
        check_whole(decoder_size=decoder_size, max_src=max_src)
        self.W_a = weight(max_src, decoder_size)

    def project_keys(self, h: Float[Tensor, "*batch src enc"]) -> Float[Tensor, "*batch src 0"]:
        """Return keys without features, one for each source position."""
        if h.shape[-2] > self.W_a.shape[0]:
            raise ValueError(f"h has {h.shape[-2]} source positions; expected at most max_src, {self.W_a.shape[0]}")
        return h[..., :0]

    def forward(
        self, s: Float[Tensor, "*batch tgt dec"], keys: Float[Tensor, "*batch src 0"]
    ) -> Float[Tensor, "*batch tgt src"]:
        """Compute scores of positions: ``batch * tgt * src * dec`` multiply-adds."""
        # Row i of W_a scores position i, whatever word is there; a shorter source uses the first rows only.
        return linear(s, self.W_a[: keys.shape[-2]])
