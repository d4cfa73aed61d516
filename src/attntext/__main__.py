"""The command ``attnlib`` as ``python -m attntext``, which torchrun starts in several processes."""

import sys

from attntext.command import main

if __name__ == "__main__":
    sys.exit(main())
