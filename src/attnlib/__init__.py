"""The code that more than one chapter of *Attention Before Transformers* needs, one concept per module.

The ground floor, in reading order, which is the order of dependence:

- `shapes`: the axis names and the kind of array that every signature uses;
- `checks`: what more than one function refuses;
- `attention`: the general mechanism, `masked_softmax`, `attend` and `attention`;
- `parameters`: how a weight begins;
- `scores`: how well does a query match a key;
- `windows`: where may the decoder look;
- `alignment`: `Align(score, window)`, from states and annotations to contexts and weights;
- `cells`: one step of a GRU and of an LSTM;
- `encoders`: words to annotations;
- `decoders`: one step each, and how steps are chained;
- `vocabulary`, `cutting`, `batches`: words to integers, which of them go together, and integers side by side;
- `devices`, `processes`: a processor or a GPU, one process or several;
- `translator`: encoder and decoder; the papers as presets;
- `sublayers`, `transformer`: what came next, several attentions side by side and nothing recurrent;
- `search`: from a translator to a translation, greedy or by beam;
- `losses`, `progress`, `training`: what is made small, how far a training is, the loop;
- `metrics`: alignment error rate, BLEU, exact match;
- `writing`: files that are whole, whenever a program ends.

And folders, each on its own:

- `language`: `lexicon`, `phrases`, `grammar`: English and French sentences whose word links are known; `german_words`,
  `german`: English and German ones;
- `experiments`: what is compared, how it is measured, and what was recorded;
- `pictures`: `figures`, those that a reader can touch, schematics, one `step`, `comparisons`, `table` and `source_of`;
- `text`: `files`, `stream`, `subwords`, `checkpoint`, `store`, `model`, `evaluation`, `settings`, `learning`: your own
  sentences, from disk;
- `pretrained`: `recipes`, `models`: the trained models that the chapters speak of;
- `real`: `captions`, `plan`, `data`, `measures`, `records`, `verdicts`, `runner`: trainings on real sentences.
"""

from typing import Any


def __getattr__(name: str) -> Any:
    """Find `load` when it is asked for: whoever imports only `attnlib.attention` need not wait for torch."""
    if name == "load":
        from attnlib.text.model import load  # noqa: PLC0415

        return load
    raise AttributeError(f"module 'attnlib' has no attribute {name!r}")
