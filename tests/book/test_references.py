"""The page of references lists every paper that the book links to."""

import re

PAPER = re.compile(r"https://(?:arxiv\.org/abs|doi\.org|aclanthology\.org)/[^)\s\"}\\]+")


def test_every_paper_that_is_named_is_listed(root, notebook_paths):
    listed = set(PAPER.findall((root / "book" / "references.bib").read_text(encoding="utf-8")))
    pages = [*(root / "book").glob("*.md"), *notebook_paths]
    named = {link for page in pages for link in PAPER.findall(page.read_text(encoding="utf-8"))}
    assert len(named) > 20
    assert named - listed == set()
