"""Plans: read as written; every row is a model, and no sentence that it is tested on is learnt from."""

from dataclasses import replace

import pytest
import torch
from measures import dev_sentences

from attnbook.costs import count_parameters
from attnbook.experiments.plan import ExperimentConfig, read_plan
from attnbook.language.sentences import sample
from attnlib.data import Vocabulary


def test_a_plan_is_what_its_file_says(small):
    config, other, local = (small.configs[name] for name in ("no-attention", "bahdanau", "local-p"))
    assert [*small.configs] == ["no-attention", "bahdanau", "local-p"]
    budget = {"embedding_dim": 7, "hidden_size": 8, "num_pairs": 30, "max_tokens": 200, "max_steps": 10}
    tested = {"test_clauses": (1, 2, 4), "num_test_sentences": 3, "test_seed": 2000, "beam_size": 1}
    where = {"label": "no-attention", "plan": "small", "phase": 2, "tuning_group": "early"}
    assert config == ExperimentConfig("no-attention", "rnn_encdec", seeds=(10, 11), **budget, **tested, **where)
    assert (other.model, other.clauses, other.options, other.beam_size) == ("rnn_search", (1, 2), {}, 2)
    assert (local.model, local.options) == ("luong", {"window": "local-p", "half_width": 2})
    first = [(config.name, seed) for config, seed in small.runs()[:8]]
    assert first == [*(("local-p", seed) for seed in range(10, 16)), ("no-attention", 10), ("bahdanau", 10)]
    columns = ["claim", "first", "second", "direction", "metric", "test_set", "margin"]
    claim = ["Bahdanau more than no-attention", "bahdanau", "no-attention", "more", "exact_match"]
    claims = [[*claim, 1, 0.05], [*claim, 4, 0.05]]
    assert small.claims("attention")[columns].to_numpy().tolist() == claims
    assert small.claims("luong").empty


def test_a_claim_about_several_metrics_and_lengths_is_one_about_each(small):
    margins = {"exact_match": {"1": 0.02, "3": 0.05}, "perplexity": {"1": 0.1, "3": 0.2}}
    shared = {"metric": ["exact_match", "perplexity"], "direction": "better", "clauses": [1, 3]}
    claims = [{"first": "bahdanau", "second": "local-p"}, {"first": "local-p", "second": "bahdanau", "clauses": [3]}]
    contents = {"verdicts": {"margins": margins, "claims": shared}, "tables": {"some": {"claims": claims}}}
    asked = replace(small, contents=small.contents | contents).claims("some")
    words = [("more", "exact_match"), ("less", "perplexity")]
    lengths = [(1, 0), (3, 1)]
    values = [[*margins[metric].values()] for _, metric in words]
    first = [(*word, name, of[n]) for word, of in zip(words, values, strict=True) for name, n in lengths]
    second = [(*word, 3, of[1]) for word, of in zip(words, values, strict=True)]
    columns = ["direction", "metric", "test_set", "margin"]
    assert [*asked[columns].itertuples(index=False, name=None)] == [*first, *second]
    assert {*asked["claim"]} == {"Bahdanau better than local-p", "local-p better than Bahdanau"}


@pytest.mark.parametrize("name", ["papers-captions", "papers-grammar", "sentences", "world"])
def test_different_models_and_claims_have_different_labels(name):
    plan = read_plan(name)
    labels = [config.label for config in plan.configs.values()]
    assert len({*labels}) == len(labels)
    for table in plan.contents["tables"]:
        assert not plan.claims(table).duplicated(["claim", "metric", "test_set"]).any()


@pytest.mark.parametrize("changes", [{"max_steps": 21}, {"options": {"score": "dot"}}, {"reordering": 0.0}])
def test_a_digest_is_of_what_a_run_depends_on(small, changes):
    config = small.configs["local-p"]
    about = {"name": "x", "label": "y", "phase": 3, "seeds": (1,), "learning_rate": 0.5}
    assert config.replace(**about).digest == config.digest != config.replace(**changes).digest


def test_sentences_are_as_often_reordered_as_the_row_says_and_of_no_other_grammar(refused):
    config = FEW.replace(reordering=1.0, num_pairs=30, num_test_sentences=7, test_seed=5)
    assert config.training_sentences(3) == sample(30, 3, reordering=1.0)
    assert config.test_sentences(2) == sample(7, 7, [2], "test", reordering=1.0)
    refused(lambda: config.replace(language="german").training_sentences(3), "language is 'german'; expected one of")


def test_a_name_that_occurs_twice_is_refused(small_file, tmp_path, refused):
    text = small_file.read_text()
    (tmp_path / "other.toml").write_text(text.replace('name = "no-attention"', 'name = "bahdanau"'))
    refused(lambda: read_plan(tmp_path / "other.toml"), "name is 'bahdanau' twice in the plan other")


@pytest.mark.parametrize("name", ["papers-captions", "papers-grammar", "sentences", "world"])
def test_every_model_of_a_plan_can_be_built_and_a_seed_decides_its_weights(name):
    few = Vocabulary(("a", "b"))
    for config in read_plan(name).configs.values():
        options = config.options | config.replace(embedding_dim=8, hidden_size=6).sizes
        one, other = (config.build(few, few, **options, seed=seed).decoder.embedding.weight for seed in (0, 1))
        assert not torch.equal(one, other)


def test_the_transformer_gets_what_bahdanaus_model_gets():
    bahdanau, transformer = (read_plan("world").configs[name] for name in ("bahdanau", "transformer"))
    alike = ("clauses", "num_pairs", "max_tokens", "max_steps", "test_clauses", "num_test_sentences", "test_seed")
    for name in (*alike, "beam_size"):
        assert getattr(bahdanau, name) == getattr(transformer, name)
    counts = [count_parameters(config.build_model(0)) for config in (bahdanau, transformer)]
    assert counts[1] == pytest.approx(counts[0], rel=0.15)


FEW = ExperimentConfig("few", "luong", {"score": "dot"}, embedding_dim=5, hidden_size=6, num_pairs=40)


def test_no_sentence_to_test_or_to_choose_by_is_learned_from():
    """The shortest are the likeliest to be drawn twice."""
    config = FEW.replace(clauses=(1,), num_pairs=3000)
    tested, dev = ({pair.source for pair in pairs} for pairs in (config.test_sentences(1), dev_sentences(config, 1)))
    learned = {pair.source for pair in config.training_sentences(0)}
    assert len(tested | dev) > 180
    assert len(learned) < 3000, "some are drawn twice"
    assert tested.isdisjoint(dev)
    assert (tested | dev).isdisjoint(learned)


def test_test_sentences_are_those_of_each_length(small):
    config = small.configs["bahdanau"]
    assert config.test_sentences() == [pair for n in (1, 2, 4) for pair in config.test_sentences(n)]
    assert config.test_sentences((1, 4)) == config.test_sentences(1) + config.test_sentences(4)
