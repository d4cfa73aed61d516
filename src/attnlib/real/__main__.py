"""``python -m attnlib.real``: see `attnlib.real.runner`."""

import sys

from attnlib.real.runner import main

if __name__ == "__main__":
    sys.exit(main())
