"""A model that must look at all words equally does, and what five trainings of it left."""

import torch
from frozen import MOMENTS, Equal

from attnbook.experiments.runs import read_table
from attnbook.language.sentences import sample, vocabularies
from attnlib.batching import collate
from attnlib.presets import rnn_search


def test_all_words_have_equal_weights_and_padding_none():
    model = rnn_search(*vocabularies(), embedding_dim=3, hidden_size=5)
    model.decoder.attention.score = Equal()
    source, lengths, target = collate(sample(7, seed=1, clauses=(1, 2)), *vocabularies())
    weights = model(source, lengths, target).attention.to_dense(source.shape[1])
    for row, length in zip(weights, lengths.tolist(), strict=True):
        assert torch.allclose(row[:, :length], torch.tensor(1 / length))
        assert not row[:, length:].any()


def test_each_model_has_five_trainings_at_all_moments():
    lines = read_table("frozen").groupby("model")[["seed", "step"]]
    every = {(seed, step) for seed in range(5) for step in MOMENTS}
    assert {name: {*map(tuple, lines.get_group(name).to_numpy())} for name in lines.groups} == dict.fromkeys(
        ("equal", "released", "as it is"), every
    )
