"""Every training in a kernel that a test starts begins a hair beside, by the seed that is asked for."""

import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

CELL = """
import torch
for _ in range(2):
    w = torch.nn.Parameter(torch.ones(1000))
    optimizer = torch.optim.SGD([w], lr=0.0)
    w.grad = torch.zeros(1000)
    for _ in range(3):
        optimizer.step()
    print(float(w.std()), float((w - 1).abs().max()), float(w.sum()))
"""


def trained() -> list[list[float]]:
    notebook = NotebookClient(new_notebook(cells=[new_code_cell(CELL)]), kernel_name="python3").execute()
    return [[float(part) for part in line.split()] for line in notebook.cells[0].outputs[0].text.splitlines()]


def test_each_training_begins_once_by_about_a_millionth_beside_and_another_seed_elsewhere(monkeypatch):
    monkeypatch.setenv("JITTER", "3")
    first, second = trained()
    assert first[0] == pytest.approx(1e-6, rel=0.1)
    assert first[1] < 6e-6
    monkeypatch.setenv("JITTER", "4")
    assert first not in (second, *trained())
