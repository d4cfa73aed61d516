"""The axis names, and the kind of array, of the signatures of all modules.

========== ======================================================================
axis       what it counts
========== ======================================================================
``batch``  sentences side by side
``tgt``    target positions, written `t` in equations; queries have this axis
``src``    source positions, written `i` in equations; keys and values have this axis
``window`` the source positions that a window exposes to the decoder
``vocab``  words of a vocabulary
``emb``    features of a word embedding
``enc``    features of an annotation, which is the encoder's vector for a word
``dec``    features of a decoder state
``att``    hidden units of an additive score
``key``    features of an annotation as a score keeps it
``d``      features of a query and of a key
``v``      features of a value
``feat``   features that the output layer multiplies
``maxout`` units of a maxout layer
``heads``  heads of a Transformer's attention
``chosen`` rows of a batch, or of a beam, that are selected
``runs``   runs of an experiment, each with its own seed
========== ======================================================================

A shape such as ``"*batch tgt d"`` reads: any number of leading axes, then `tgt`, then `d`. A `#` marks an
axis that may also be 1 or missing, and is then repeated. Within one signature a name stands for one size. Other
names, such as ``likely``, are explained where they are used.
"""

from typing import Any, TypeAlias

from jaxtyping import Integer, Real

Array: TypeAlias = Any
"""A NumPy array or a torch tensor. It stays open so that those who use only NumPy need not load torch."""

IntLike: TypeAlias = int | Integer[Array, ""]
"""A whole number of Python, NumPy or torch."""

FloatLike: TypeAlias = int | float | Real[Array, ""]
"""A number of Python, NumPy or torch."""
