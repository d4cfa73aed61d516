"""The code that more than one chapter of *Attention Before Transformers* needs, one concept per module.

What the chapters use most is named here too, ``from attnlib import attention, luong``, and is loaded when it is first
used: whoever needs only `attention` need not wait for torch.

The modules, in reading order, which is the order of dependence:

- `lazy`: names that a package loads when they are first used;
- `shapes`: the axis names and the kind of array that every signature uses;
- `checks`: checks of arguments that several modules need;
- `units`: words, or letters where a script has no spaces, and the weights between them;
- `mechanism`: attention in general, `masked_softmax`, `attend` and `attention`;
- `layers`: initialization of weights, embeddings, stacks of LSTMs, one step of a GRU and of an LSTM;
- `scores`: how well a query matches a key;
- `windows`: which source positions a decoder state attends to;
- `alignment`: `AttentionLayer(score, window)`, from states and annotations to contexts and weights
  (word alignments are in `metrics`);
- `encoders`: words to annotations;
- `data`: sentence pairs and vocabularies;
- `batching`: padded batches of ids;
- `decoders`: one step of decoding, and the loop over steps;
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

_NAMES = {
    "mechanism": "AttentionOutput attend attention masked_softmax",
    "windows": "GlobalWindow LocalMonotonic LocalPredictive gaussian",
    "alignment": "AttentionLayer",
    "encoders": "EncoderOutput",
    "data": "BOS EOS PAD UNK SentencePair Vocabulary",
    "batching": "batches collate encode_batch infinite_batches",
    "seq2seq": "EncoderDecoder",
    "presets": "luong rnn_encdec rnn_search",
    "ensembles": "ensemble",
    "search": "beam_search greedy_search",
    "training": "train",
    "translation": "translate translate_all",
}
__getattr__, __dir__, __all__ = attach(__name__, _NAMES)
