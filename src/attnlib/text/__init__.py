"""Your own sentences: `files` to read them from, `subwords` and a `store` of numbers to learn from.

`settings` say how `learning` makes a model of them, whose folder `checkpoint` keeps; `model`, `evaluation` and
`page` are what is done with it.
"""
