"""The text: files found under each of their names, spelt in one way, missed by name."""

import pytest

from attnlib.language.grammar import sample
from attnlib.real.data import find_files, read_data


def sides(pairs):
    return [pair[:2] for pair in pairs]


@pytest.mark.parametrize("language", ["german", "french"])
def test_each_part_is_read_and_marks_are_what_they_stand_for(text_folder, language):
    text = read_data(text_folder, language)
    assert [len(part) for part in text] == [60, 6, 5]
    assert sides(text.train) == sides(sample(60, seed=0, clauses=(1,)))
    assert any("l'" in pair.target for pair in text.train)


def test_a_pair_with_an_empty_side_is_left_out(tmp_path):
    for name in ("train", "val", "test_2017_flickr"):
        (tmp_path / f"{name}.en").write_text("a &quot; b &amp;\n\nc\n")
        (tmp_path / f"{name}.fr").write_text("A\nB\nC\n")
    assert sides(read_data(tmp_path, "french").dev) == [(("a", '"', "b", "&"), ("A",)), (("c",), ("C",))]


def test_all_files_that_are_missing_are_named(text_folder, tmp_path):
    (tmp_path / "train.lc.norm.tok.en").touch()
    (tmp_path / "val.de.gz").touch()
    says = (
        f"^DATA is {tmp_path}, which lacks train.lc.norm.tok.de, val.lc.norm.tok.en, test_2017_flickr.lc.norm.tok.en, "
        r"test_2017_flickr.lc.norm.tok.de \(or .gz\); expected .* data/task1/tok of github.com/multi30k/dataset"
    )
    with pytest.raises(ValueError, match=says):
        find_files(tmp_path, "german")
