"""Alignment error rate of each head of the Transformer of chapter 5 on our captions.

``python record/heads.py DATA`` trains it once more, with one seed, on the files of chapter 5 in the folder DATA: three
quarters of an hour on one processor core; interrupted, it goes on where it was. It writes ``heads.csv``: a line for
each head of each layer, and for the mean of each layer's heads, under forced decoding.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import torch
import tyro
from caption_alignments import Links, score
from sentences import read_data, settings_of
from tyro.conf import Positional

from attnlib.batching import collate
from attnlib.data import SentencePair
from attnlib.experiments.captions import load_captions
from attnlib.experiments.plan import read_plan
from attnlib.experiments.runs import RECORDED
from attnlib.metrics import hard_alignment
from attnlib.seq2seq import EncoderDecoder
from attnlib.text.trainer import train_model

ROW, SEED, LANGUAGE = "transformer", 0, "german"


@torch.no_grad()
def head_weights(translator: EncoderDecoder, pair: SentencePair) -> np.ndarray:
    """Return the weights of each head of each decoder layer over the source, given the true translation.

    Returns
    -------
    array, shape (layers, heads, tgt, src)
        EOS is a word on both sides.
    """
    source, lengths, target = collate([pair], translator.source_vocabulary, translator.target_vocabulary)
    weights = []
    hooks = [
        layer.cross_attention.register_forward_hook(lambda module, inputs, look: weights.append(look.weights[0]))
        for layer in translator.decoder.layers
    ]
    translator(source, lengths, target)
    for hook in hooks:
        hook.remove()
    return torch.stack(weights).numpy()


def head_links(translator: EncoderDecoder, pairs: Sequence[SentencePair]) -> dict[tuple[int, str], list[Links]]:
    """Link the words of each pair by each head, from 1, and by the mean of each layer's heads."""
    found: dict[tuple[int, str], list[Links]] = {}
    for pair in pairs:
        for n, layer in enumerate(head_weights(translator, pair), 1):
            heads = {str(k): weights for k, weights in enumerate(layer, 1)} | {"mean": layer.mean(axis=0)}
            for name, weights in heads.items():
                found.setdefault((n, name), []).append(hard_alignment(weights, *pair[:2]))
    return found


def results(translator: EncoderDecoder) -> pd.DataFrame:
    """Score the links of each head on our captions."""
    pairs = [caption.pair for caption in load_captions(LANGUAGE)]
    key = {"model": ROW, "language": LANGUAGE, "seed": SEED}
    by_head = head_links(translator, pairs).items()
    lines = [key | {"layer": layer, "head": head} | score(found, LANGUAGE) for (layer, head), found in by_head]
    return pd.DataFrame(lines).round(4)


def main(data: Positional[Path]) -> None:
    """Record the alignment error rate of each head of the Transformer.

    Parameters
    ----------
    data
        The folder with the text.
    """
    torch.set_num_threads(1)
    config, text = read_plan("sentences").configs[ROW], read_data(data, LANGUAGE)
    trained = train_model(Path("_build/record/heads"), text.train, text.dev, settings_of(config, SEED))
    results(trained).to_csv(RECORDED / "heads.csv", index=False)


if __name__ == "__main__":
    tyro.cli(main)
