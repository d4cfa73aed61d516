"""How well does a query match a key? The scores of both papers.

A score reads the annotations once per sentence, ``keys = score.keys(h)``, and answers decoder states at every
step, ``e = score(s, keys)``. The equations that need no weights of their own, `dot` and `additive`, are
functions on NumPy arrays and torch tensors alike. The classes own the weights and nothing else: bare
parameters with the papers' names, no biases.

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

from array_api_compat import is_torch_array
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import linear

from attnlib.checks import as_floating, check_shape, check_whole
from attnlib.parameters import weight
from attnlib.shapes import Array


def dot(s: Float[Array, "*batch tgt d"], h: Float[Array, "*batch src d"]) -> Float[Array, "*batch tgt src"]:
    r"""Score every query against every key by their dot product, :math:`e_{t,i} = s_t \cdot h_i`.

    Parameters
    ----------
    s : ``"*batch tgt d"``
        Queries.
    h : ``"*batch src d"``
        Keys.

    Returns
    -------
    ``"*batch tgt src"``
        Scores, without a scale.

    Raises
    ------
    TypeError
        If `s` and `h` are of different libraries or not of real numbers, or one is an integer tensor.
    ValueError
        If `s` and `h` differ in their number of features, or in their leading axes.

    Notes
    -----
    Costs ``batch * tgt * src * d`` multiply-adds. Luong et al. 2015, section 3.1, "dot".
    """
    xp, s, h = as_floating(s=s, h=h)
    check_shape("h", h, *s.shape[:-2], "src", s.shape[-1])
    return s @ xp.matrix_transpose(h)


def additive(
    queries: Float[Array, "*batch tgt att"], keys: Float[Array, "*batch src att"], v_a: Float[Array, "att"]
) -> Float[Array, "*batch tgt src"]:
    r"""Score by a network with one hidden layer, :math:`e_{t,i} = v_a \cdot \tanh(W_a s_{t-1} + U_a h_i)`.

    Parameters
    ----------
    queries : ``"*batch tgt att"``
        The decoder states as the hidden layer sees them, :math:`W_a s`.
    keys : ``"*batch src att"``
        The annotations as the hidden layer sees them, :math:`U_a h`.
    v_a : ``"att"``
        The weight of each hidden unit.

    Returns
    -------
    ``"*batch tgt src"``
        Scores.

    Raises
    ------
    TypeError
        As for `dot`.
    ValueError
        If `queries`, `keys` and `v_a` differ in their number of hidden units, or `queries` and `keys` in their
        leading axes.

    Notes
    -----
    Costs ``batch * tgt * src * att`` hyperbolic tangents, and memory for as many numbers: the most expensive score.
    Bahdanau et al. 2015, appendix A.1.2; Luong et al. 2015, section 3.1, "concat".
    """
    xp, queries, keys, v_a = as_floating(queries=queries, keys=keys, v_a=v_a)
    check_shape("queries", queries, *queries.shape[:-1], *v_a.shape)
    check_shape("keys", keys, *queries.shape[:-2], "src", *v_a.shape)
    hidden = queries[..., :, None, :] + keys[..., None, :, :]
    hidden = hidden.tanh_() if is_torch_array(hidden) else xp.tanh(hidden)  # in training, the largest tensor of all
    return hidden @ v_a


class Dot(nn.Module):
    """The dot score, `dot`: no weights, so states and annotations need equally many features.

    Notes
    -----
    Luong et al. 2015, section 3.1, "dot".
    """

    def keys(self, h: Float[Tensor, "*batch src enc"]) -> Float[Tensor, "*batch src enc"]:
        """Keep the annotations as they are."""
        return h

    def forward(
        self, s: Float[Tensor, "*batch tgt enc"], keys: Float[Tensor, "*batch src enc"]
    ) -> Float[Tensor, "*batch tgt src"]:
        """Score states against keys: see `dot`."""
        return dot(s, keys)


class General(nn.Module):
    """The dot product with a matrix in between, s · W_a h (Luong et al. 2015, section 3.1, "general").

    Parameters
    ----------
    dec, enc : int
        Features of a decoder state and of an annotation. ``W_a`` is ``(dec, enc)``.
    """

    def __init__(self, dec: int, enc: int):
        check_whole(dec=dec, enc=enc)
        super().__init__()
        self.W_a = weight(dec, enc)

    def keys(self, h: Float[Tensor, "*batch src enc"]) -> Float[Tensor, "*batch src dec"]:
        """Bring the annotations into the decoder's space, W_a h: ``batch * src * enc * dec`` multiply-adds."""
        return linear(h, self.W_a)

    def forward(
        self, s: Float[Tensor, "*batch tgt dec"], keys: Float[Tensor, "*batch src dec"]
    ) -> Float[Tensor, "*batch tgt src"]:
        """Score states against keys: see `dot`."""
        return dot(s, keys)


class Additive(nn.Module):
    """A network with one hidden layer (Bahdanau et al. 2015, appendix A.1.2): see `additive`.

    Parameters
    ----------
    dec, enc, att : int
        Features of a decoder state and of an annotation, and the number of hidden units. ``W_a`` is
        ``(att, dec)``, ``U_a`` ``(att, enc)``, ``v_a`` ``(att,)``.
    """

    def __init__(self, dec: int, enc: int, att: int):
        check_whole(dec=dec, enc=enc, att=att)
        super().__init__()
        self.W_a, self.U_a, self.v_a = weight(att, dec), weight(att, enc), weight(att)

    def keys(self, h: Float[Tensor, "*batch src enc"]) -> Float[Tensor, "*batch src att"]:
        """Prepare the half that never changes, U_a h: ``batch * src * enc * att`` multiply-adds."""
        return linear(h, self.U_a)

    def forward(
        self, s: Float[Tensor, "*batch tgt dec"], keys: Float[Tensor, "*batch src att"]
    ) -> Float[Tensor, "*batch tgt src"]:
        """Score states against keys: see `additive`."""
        return additive(linear(s, self.W_a), keys, self.v_a)


class Concat(nn.Module):
    """The additive score with one matrix for state and annotation, v_a · tanh(W_a [s; h]).

    The product of a matrix and two stacked vectors is the sum of two products, so this is `Additive` with
    W_a = [W_a, U_a], and it calls the same function (Luong et al. 2015, section 3.1, "concat").

    Parameters
    ----------
    dec, enc, att : int
        Features of a decoder state and of an annotation, and the number of hidden units. ``W_a`` is
        ``(att, dec + enc)``, ``v_a`` ``(att,)``.
    """

    def __init__(self, dec: int, enc: int, att: int):
        check_whole(dec=dec, enc=enc, att=att)
        super().__init__()
        self.dec = dec
        self.W_a, self.v_a = weight(att, dec + enc), weight(att)

    def keys(self, h: Float[Tensor, "*batch src enc"]) -> Float[Tensor, "*batch src att"]:
        """Prepare the half that never changes: ``batch * src * enc * att`` multiply-adds."""
        return linear(h, self.W_a[:, self.dec :])

    def forward(
        self, s: Float[Tensor, "*batch tgt dec"], keys: Float[Tensor, "*batch src att"]
    ) -> Float[Tensor, "*batch tgt src"]:
        """Score states against keys: see `additive`."""
        return additive(linear(s, self.W_a[:, : self.dec]), keys, self.v_a)


class Location(nn.Module):
    """Score positions by the state alone, W_a s (Luong et al. 2015, eq. 8): what a word says does not count.

    Parameters
    ----------
    dec : int
        Features of a decoder state.
    max_src : int
        The longest source there will be. ``W_a`` is ``(max_src, dec)``, row `i` for position `i`.
    """

    def __init__(self, dec: int, max_src: int):
        check_whole(dec=dec, max_src=max_src)
        super().__init__()
        self.W_a = weight(max_src, dec)

    def keys(self, h: Float[Tensor, "*batch src enc"]) -> Float[Tensor, "*batch src 0"]:
        """Keep nothing of the annotations but how many there are.

        Raises
        ------
        ValueError
            If the source is longer than `max_src`.
        """
        if h.shape[-2] > self.W_a.shape[0]:
            raise ValueError(f"h has {h.shape[-2]} source positions; expected at most max_src, {self.W_a.shape[0]}")
        return h[..., :0]

    def forward(
        self, s: Float[Tensor, "*batch tgt dec"], keys: Float[Tensor, "*batch src 0"]
    ) -> Float[Tensor, "*batch tgt src"]:
        """Score positions: ``batch * tgt * src * dec`` multiply-adds."""
        return linear(s, self.W_a[: keys.shape[-2]])
