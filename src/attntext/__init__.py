"""Training and translation of your own sentences: what the command `attnlib` does, as functions.

- `settings`: how a model is built and trained;
- `atomic_files`: files that are whole, whenever a program ends;
- `files`: reading of parallel text and word links;
- `processes`: a processor or a GPU, one process or several;
- `loss`: the loss, computed together with the output layer;
- `saving`: how a model folder is written during a training;
- `stream`: translation of a stream of lines;
- `evaluation`: BLEU, chrF, and alignment error of a model on a text;
- `trainer`: training on a text;
- `page`: a model as one web page;
- `command`: the command itself.

Models are read by `attnbook.pretrained.folder`.
"""
