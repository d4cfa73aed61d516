"""Where the code of the records is."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "record"))
