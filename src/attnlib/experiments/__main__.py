"""``python -m attnlib.experiments``: see `attnlib.experiments.runner`."""

import sys

from attnlib.experiments.runner import main

if __name__ == "__main__":
    sys.exit(main())
