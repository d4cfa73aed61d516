"""The code that more than one chapter of *Attention Before Transformers* needs, one concept per module.

What the chapters use most is named here too, ``from attnlib import AttentionLayer, luong``, and is loaded when it is
asked for: whoever needs only `attnlib.attention` need not wait for torch.

The modules, in reading order, which is the order of dependence:

- `lazy`: names that a package loads when they are asked for;
- `shapes`: the axis names and the kind of array that every signature uses;
- `units`: words, or letters where a script has no spaces, and the weights between them;
- `checks`: checks of arguments that several modules need;
- `attention`: the general mechanism, `masked_softmax`, `attend` and `attention`;
- `layers`: initialization of weights, embeddings, one step of a GRU and of an LSTM;
- `scores`: how well does a query match a key;
- `windows`: where may the decoder look;
- `alignment`: `AttentionLayer(score, window)`, from states and annotations to contexts and weights
  (word alignments are in `metrics`);
- `encoders`: words to annotations;
- `data`: sentence pairs and vocabularies;
- `batching`: padded batches of ids;
- `losses`: the loss, computed together with the output layer;
- `decoders`: one step of decoding, and the loop over steps;
- `processes`: a processor or a GPU, one process or several;
- `seq2seq`: encoder and decoder;
- `presets`: the papers' models;
- `transformer`: a small Transformer, with multi-head attention and no recurrence;
- `ensembles`: several models that translate together;
- `search`: the likeliest words, greedy or by beam;
- `training`: the training loop;
- `metrics`: alignment error rate, BLEU, exact match;
- `translation`: sentences in, words, weights, and links out.
"""

from attnlib.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
