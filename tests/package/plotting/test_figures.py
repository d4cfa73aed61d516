"""What a picture shows can be read back from it, and nothing is clipped."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from matplotlib.text import Text

from attnbook import figures
from attnbook.cards import attention_explorer

RNG = np.random.default_rng(0)
FOUR = ["la", "voiture", "internationale", "dort"]


def assert_inside(figure):
    """Check that a figure cuts off none of its words and arrows."""
    figure.draw_without_rendering()
    drawn, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
    assert 0 <= drawn.x0 < drawn.x1 <= width
    assert 0 <= drawn.y0 < drawn.y1 <= height


@pytest.mark.parametrize("size", [1, 4, 25])
def test_every_word_is_there_and_inside_the_picture(size):
    source, target = [f"international{n}" for n in range(size)], [f"gouvernement{n}" for n in range(size + 2)]
    weights = RNG.dirichlet(np.ones(size), size=size + 2)
    ax = figures.plot_alignment(weights, source, target, title="attention")
    assert [text.get_text() for text in ax.get_xticklabels()] == source
    assert [text.get_text() for text in ax.get_yticklabels()] == target
    np.testing.assert_array_equal(ax.images[0].get_array(), weights)
    assert ax.images[0].get_clim() == (0, 1)
    assert_inside(ax.figure)


def test_the_cells_of_a_small_picture_say_their_weight_in_a_legible_ink():
    weights = np.array([[0.0, 1.0], [0.93, 0.94]])  # there black and white ink are equally legible
    ax = figures.plot_alignment(weights, ["the", "cat"], ["le", "chat"])
    shown = {(*map(int, text.get_position()), text.get_text()) for text in ax.texts}
    assert shown == {(0, 0, "0.00"), (1, 0, "1.00"), (0, 1, "0.93"), (1, 1, "0.94")}
    assert [text.get_color() for text in ax.texts] == ["black", "white", "black", "white"]
    assert not figures.plot_alignment(weights, ["the", "cat"], ["le", "chat"], annotate=False).texts
    many = np.full((9, 2), 0.5), ["the", "cat"], ["le"] * 9
    assert not figures.plot_alignment(*many).texts
    assert len(figures.plot_alignment(*many, annotate=True).texts) == 18


def draw_everywhere(text):
    return figures.plot_alignment(np.eye(2), ["cost", text], ["a", text], title=text, xlabel=text, ylabel=text)


@pytest.mark.parametrize(
    "draw", [draw_everywhere, lambda text: figures.plot_alignments({text: np.eye(2)}, FOUR[:2], FOUR[:2])[0]]
)
@pytest.mark.parametrize("text", ["$5-$10", "$/h_$", r"\$5 \$"])
def test_dollar_signs_are_drawn_as_they_stand(draw, text):
    """Two of them begin mathematics in Matplotlib, and mathematics that cannot be parsed raises."""
    figure = draw(text).figure
    figure.draw_without_rendering()
    drawn = [artist for artist in figure.findobj(Text) if artist.get_text() == text]
    assert drawn
    assert not any(artist.get_parse_math() for artist in drawn)


@pytest.mark.parametrize("tensor", [torch.eye(2).bfloat16(), torch.eye(2, requires_grad=True)])
def test_tensors_of_any_type_are_drawn(tensor):
    ax = figures.plot_alignment(tensor, FOUR[:2], FOUR[:2])
    np.testing.assert_array_equal(ax.images[0].get_array(), np.eye(2))
    cards = [attention_explorer({"": weights}, FOUR[:2], FOUR[:2]) for weights in (tensor, np.eye(2))]
    assert cards[0].html == cards[1].html


def test_it_draws_where_it_is_told_and_names_its_axes():
    given = plt.subplots(layout="constrained")[1]
    ax = figures.plot_alignment(np.eye(4), FOUR, FOUR, given, xlabel="keys", ylabel="queries", colorbar=False)
    assert ax is given
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("keys", "queries")
    assert len(ax.figure.axes) == 1


def test_several_share_one_color_scale_and_those_too_wide_for_a_column_are_stacked():
    words = [f"word{n}" for n in range(12)]
    few = figures.plot_alignments({"dot": np.eye(4), "general": np.full((4, 4), 0.25)}, FOUR, FOUR)
    many = figures.plot_alignments({"dot": np.eye(12), "general": np.eye(12)}, words, words)
    for axes in (few, many):
        assert [ax.get_title() for ax in axes] == ["dot", "general"]
        assert {ax.images[0].get_clim() for ax in axes} == {(0, 1)}
        assert len(axes[0].figure.axes) == 3
        assert_inside(axes[0].figure)
        assert axes[0].figure.get_size_inches()[0] <= 12
    assert few[0].get_position().x1 < few[1].get_position().x0
    assert many[0].get_position().y0 > many[1].get_position().y1


def test_links_are_circled_at_their_words():
    ax = figures.circle_links(figures.plot_alignment(np.eye(2), ["the", "cat"], ["le", "chat"]), {(0, 1), (1, 1)})
    (circles,) = ax.collections
    assert {tuple(map(int, place)) for place in circles.get_offsets()} == {(0, 1), (1, 1)}
    assert len(circles.get_facecolors()) == 0
