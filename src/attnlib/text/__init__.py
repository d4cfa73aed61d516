"""Training and translation of your own sentences.

`files` reads sentences, `subwords` splits them, `config` and `trainer` say how a model is trained, `saving` stores it
by means of `writing`, `folder` reads it, and `stream` and `evaluation` apply it.
"""
