"""The code that more than one chapter of *Attention Before Transformers* needs, one concept a module.

In reading order, which is the order of dependence:

- `shapes`: the axis names and the kind of array that every signature uses;
- `checks`: what more than one function refuses;
- `attention`: the general mechanism, `masked_softmax` and `attention`;
- `parameters`: how a weight begins;
- `scores`: how well does a query match a key;
- `windows`: where may the decoder look;
- `alignment`: `Align(score, window)`, from states and annotations to contexts and weights;
- `cells`: one step of a GRU and of an LSTM;
- `encoders`: words to annotations;
- `decoders`: one step each, and how steps are chained;
- `corpus`: sentence pairs, vocabularies, batches;
- `translator`: encoder and decoder; the papers as presets;
- `search`: from a translator to a translation, greedy or by beam;
- `lexicon`, `phrases`, `grammar`: English and French sentences whose word links are known;
- `training`: the loop;
- `metrics`: alignment error rate, BLEU, exact match;
- `writing`: files that are whole, whenever a program ends;
- `experiments`: a folder: what is compared, how it is measured, and what was recorded;
- `cards`, `explorer`, `sharpening`: pictures that a reader can touch;
- `figures`: pictures of alignments and of curves, and the way to the others.
"""
