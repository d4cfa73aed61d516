"""Chapter 5 learns from the reader's own copy of the real text, which nothing else here has."""

from dataclasses import replace
from pathlib import Path

import nbformat

from attnlib.language.grammar import sample
from attnlib.real import data
from attnlib.text import learning
from attnlib.text.settings import Settings

CHAPTER = Path(__file__).parents[2] / "notebooks" / "05-real-sentences.ipynb"


def test_the_folder_that_data_names_is_learned_from(tmp_path, monkeypatch, capsys):
    cells = nbformat.read(CHAPTER, as_version=4).cells
    place = next(i for i, cell in enumerate(cells) if 'environ.get("DATA")' in cell.source)
    for name, part in (("train", "train"), ("val", "test"), ("test_2017_flickr", "test")):
        for ending, side in (("en", "source"), ("de", "target")):
            lines = (" ".join(getattr(pair, side)) + "\n" for pair in sample(40, seed=0, clauses=(1,), part=part))
            (tmp_path / f"{name}.{ending}").write_text("".join(lines))
    sizes = {"emb": 8, "hid": 8, "seed": 0}
    known = {"environ": {"DATA": str(tmp_path)}, "data": data, "learning": learning, "replace": replace, "Path": Path}
    known |= {"home": tmp_path, "how": Settings(options=sizes, steps=2)}
    for cell in cells[place : place + 2]:
        exec(cell.source, known)
    assert known["how"].vocabulary == 2_000
    assert capsys.readouterr().out == f"{known['model'].translate('a dog runs on the beach .')}\n"
