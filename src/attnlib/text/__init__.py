"""Training and translation of your own sentences.

`files` reads sentences, `subwords` splits them, `config` and `training` say how a model is trained, `folder` stores it
by means of `writing`, and `model` and `evaluation` apply it.
"""
