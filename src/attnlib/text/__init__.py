"""Your own sentences: `files` to read them from, `units` of them that are linked, `subwords` that they are made of.

`config` says how `training` makes a model of them, from a `corpus` of numbers, which a `folder` keeps; `model`
and `evaluation` are what is done with it.
"""
