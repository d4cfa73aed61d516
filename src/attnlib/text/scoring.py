"""What a training is told by sentences kept apart: how well it does, which weights to keep, and when to end."""

from collections.abc import Callable
from dataclasses import dataclass

from attnlib import processes
from attnlib.checks import check_whole
from attnlib.progress import DevScore, Training
from attnlib.translator import Translator


@dataclass(frozen=True)
class Scoring:
    """Scores a translator while it is trained, as `attnlib.training.train`'s ``on_step``.

    The weights with the best score, by BLEU and then by loss, are kept in ``Training.best``. Of several processes the
    first scores, for all.

    Attributes
    ----------
    score : function
        From a translator to its loss and its BLEU.
    every : int
        The steps from one score to the next; the last step is followed by one too.
    patience : int, optional
        End when so many scores in a row were no better than the best before them.
    """

    score: Callable[[Translator], tuple[float, float]]
    every: int
    patience: int | None = None

    def __post_init__(self):
        check_whole(every=self.every, **{} if self.patience is None else {"patience": self.patience})

    def __call__(self, training: Training, last: bool) -> None:
        """Score, if it is time to, and ask for an early end, if that is due."""
        if training.step % self.every and not last:
            return
        training.read()
        loss, bleu = processes.from_first(lambda: self.score(training.translator), 2)
        training.scores.append(DevScore(training.step, loss, bleu))
        if _best(training) == len(training.scores) - 1:
            training.best = {name: x.detach().clone() for name, x in training.translator.state_dict().items()}
        training.early = self.is_over(training)

    def is_over(self, training: Training) -> bool:
        """Look whether patience has come to its end."""
        since = len(training.scores) - 1 - _best(training) if training.scores else 0
        return self.patience is not None and since >= self.patience


def _best(training: Training) -> int:
    """Find the best score, of equal ones the first."""
    return max(range(len(training.scores)), key=lambda n: training.scores[n].rank)
