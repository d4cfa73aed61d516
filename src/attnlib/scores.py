"""How well does a query match a key? The scores of both papers.

A score reads the annotations once per sentence, ``keys = score.project_keys(h)``, and answers decoder states at every
step, ``e = score(s, keys)``. The equations that need no weights of their own, `dot` and `additive`, are
functions on NumPy arrays and torch tensors alike. The classes own the weights and nothing else: bare
parameters with the papers' names, no biases. All of them trust the shapes in their signatures: what does not fit is
refused by the doors, `attnlib.attention.attention` and a model's methods.

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

from attnlib.layers import weight
from attnlib.shapes import Array


def dot(s: Float[Array, "*batch tgt d"], h: Float[Array, "*batch src d"]) -> Float[Array, "*batch tgt src"]:
    r"""Score every query against every key by their dot product, :math:`e_{t,i} = s_t \cdot h_i`, without a scale.

    Costs ``batch * tgt * src * d`` multiply-adds. Luong et al. 2015, section 3.1, "dot".
    """
    return s @ h.mT


def additive(
    queries: Float[Array, "*batch tgt att"], keys: Float[Array, "*batch src att"], v_a: Float[Array, "att"]
) -> Float[Array, "*batch tgt src"]:
    r"""Score by a network with one hidden layer, :math:`e_{t,i} = v_a \cdot \tanh(W_a s_{t-1} + U_a h_i)`.

    The `queries` are the decoder states as the hidden layer sees them, :math:`W_a s`, the `keys` the annotations,
    :math:`U_a h`.

    Costs ``batch * tgt * src * att`` hyperbolic tangents, and memory for as many numbers: the most expensive score.
    Bahdanau et al. 2015, appendix A.1.2; Luong et al. 2015, section 3.1, "concat".
    """
    hidden = queries[..., :, None, :] + keys[..., None, :, :]  # in training, the largest tensor of all
    return (hidden.tanh_() if is_torch_array(hidden) else array_namespace(hidden).tanh(hidden)) @ v_a


class Dot(nn.Module):
    """Score by `dot`, so states and annotations need equally many features (Luong et al. 2015, section 3.1, "dot")."""

    def project_keys(self, h: Float[Tensor, "*batch src enc"]) -> Float[Tensor, "*batch src enc"]:
        """Keep the annotations as they are."""
        return h

    def forward(
        self, s: Float[Tensor, "*batch tgt key"], keys: Float[Tensor, "*batch src key"]
    ) -> Float[Tensor, "*batch tgt src"]:
        """Score states against keys: see `dot`."""
        return dot(s, keys)


class General(Dot):
    """Score by `dot` with a matrix between, s · W_a h (Luong et al. 2015, section 3.1, "general")."""

    def __init__(self, decoder_size: int, encoder_size: int):
        super().__init__()
        self.W_a = weight(decoder_size, encoder_size)

    def project_keys(self, h: Float[Tensor, "*batch src enc"]) -> Float[Tensor, "*batch src dec"]:
        """Bring the annotations into the decoder's space, W_a h: ``batch * src * enc * dec`` multiply-adds."""
        return linear(h, self.W_a)


class Additive(nn.Module):
    """Score by `additive`, a network with `attention_size` hidden units (Bahdanau et al. 2015, appendix A.1.2)."""

    def __init__(self, decoder_size: int, encoder_size: int, attention_size: int):
        super().__init__()
        self.W_a, self.U_a, self.v_a = (
            weight(attention_size, decoder_size),
            weight(attention_size, encoder_size),
            weight(attention_size),
        )

    def project_keys(self, h: Float[Tensor, "*batch src enc"]) -> Float[Tensor, "*batch src att"]:
        """Prepare the half that never changes, U_a h: ``batch * src * enc * att`` multiply-adds."""
        return linear(h, self.U_a)

    def forward(
        self, s: Float[Tensor, "*batch tgt dec"], keys: Float[Tensor, "*batch src att"]
    ) -> Float[Tensor, "*batch tgt src"]:
        """Score states against keys: see `additive`."""
        return additive(linear(s, self.W_a), keys, self.v_a)


class Concat(nn.Module):
    """Score by `additive` with one matrix for state and annotation, v_a · tanh(W_a [s; h]).

    The product of a matrix and two stacked vectors is the sum of two products, so this is `Additive` with
    W_a = [W_a, U_a] (Luong et al. 2015, section 3.1, "concat").
    """

    def __init__(self, decoder_size: int, encoder_size: int, attention_size: int):
        super().__init__()
        self.dec = decoder_size
        self.W_a, self.v_a = weight(attention_size, decoder_size + encoder_size), weight(attention_size)

    def project_keys(self, h: Float[Tensor, "*batch src enc"]) -> Float[Tensor, "*batch src att"]:
        """Prepare the half that never changes: ``batch * src * enc * att`` multiply-adds."""
        return linear(h, self.W_a[:, self.dec :])

    def forward(
        self, s: Float[Tensor, "*batch tgt dec"], keys: Float[Tensor, "*batch src att"]
    ) -> Float[Tensor, "*batch tgt src"]:
        """Score states against keys: see `additive`."""
        return additive(linear(s, self.W_a[:, : self.dec]), keys, self.v_a)


class Location(nn.Module):
    """Score positions by the state alone, W_a s (Luong et al. 2015, eq. 8): what a word says does not count.

    Row `i` of W_a is for position `i`: a source may have `max_src` words at most.
    """

    def __init__(self, decoder_size: int, max_src: int):
        super().__init__()
        self.W_a = weight(max_src, decoder_size)

    def project_keys(self, h: Float[Tensor, "*batch src enc"]) -> Float[Tensor, "*batch src 0"]:
        """Keep nothing of the annotations but how many there are: a ValueError if more than `max_src`."""
        if h.shape[-2] > self.W_a.shape[0]:
            raise ValueError(f"h has {h.shape[-2]} source positions; expected at most max_src, {self.W_a.shape[0]}")
        return h[..., :0]

    def forward(
        self, s: Float[Tensor, "*batch tgt dec"], keys: Float[Tensor, "*batch src 0"]
    ) -> Float[Tensor, "*batch tgt src"]:
        """Score positions: ``batch * tgt * src * dec`` multiply-adds."""
        return linear(s, self.W_a[: keys.shape[-2]])
