"""The trained models that the chapters speak of: model folders, opened with `load_pretrained`.

What the text says of a trained model is said of one of these, since a training made anew ends a little elsewhere on
every processor. Their weights are stored in float16 and computed with in float64, so that they print the same
everywhere. ``record/recipes.py`` says how each was trained; ``make pretrained`` trains those that are missing.
"""

from attnbook.pretrained.models import FOLDER, load_pretrained, names
