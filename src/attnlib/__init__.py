"""The code that more than one chapter of *Attention Before Transformers* needs, one concept a module.

In reading order, which is the order of dependence:

- `shapes`: the axis names and the kind of array that every signature uses;
- `attention`: the general mechanism, `masked_softmax` and `attention`.
"""
