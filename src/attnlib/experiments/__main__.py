"""``python -m attnlib.experiments``: see `attnlib.experiments.runner`."""

from attnlib.experiments.runner import main

if __name__ == "__main__":
    main()
