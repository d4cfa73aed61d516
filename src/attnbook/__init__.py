"""What the pages of *Attention Before Transformers* need beside `attnlib`: sentences, pictures, records, and models.

- `language`: `lexicon`, `dictionary`, `phrases`, `sentences`: English and French sentences whose word links are known;
- `costs`: parameters and multiply-adds of a model;
- `cards`: interactive cards, schematics and `table`;
- `figures`: plots;
- `pretrained`: `folder`, `subwords`, `models`: the trained models that the chapters speak of;
- `experiments`: what is compared, how it is measured, and what was recorded, of the grammar and of real sentences.
"""

from attnlib.lazy import attach

_NAMES = {
    "language.sentences": "sample",
    "pretrained.folder": "load",
    "pretrained.models": "load_pretrained",
}
__getattr__, __dir__, __all__ = attach(__name__, _NAMES)
