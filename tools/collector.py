"""What `pytest --nbval` collects of a notebook: its cells, and behind them what is claimed of them."""

from collections import defaultdict
from collections.abc import Iterator

from nbval.plugin import IPyNbCell, IPyNbFile

from bookext.weaving import weave


class Claims(IPyNbCell):
    """A section of the claims; it fails with the traceback of the claim that does not hold."""

    def reportinfo(self) -> tuple:
        """Say which section it is."""
        return self.path, 0, f"{self.path.relative_to(self.config.rootpath)}::{self.name}"


class Page(IPyNbFile):
    """A notebook with its claims."""

    def collect(self) -> Iterator[IPyNbCell]:
        """Find the cells, and each section of the claims behind its cell."""
        items = {item.cell.id: item for item in super().collect()}
        for cell in weave(self.nb, self.config.rootpath / "tests" / "claims" / f"{self.path.stem}.py").cells:
            if cell.id in items:
                yield (item := items[cell.id])
            elif "claims" in cell.metadata:
                number, name = item.cell_num, f"claims after {cell.metadata.claims}"
                yield Claims.from_parent(self, name=name, cell_num=number, cell=cell, options=defaultdict(bool))
