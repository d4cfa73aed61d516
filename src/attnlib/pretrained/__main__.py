"""``python -m attnlib.pretrained``: train the pretrained models that are missing. About a minute each."""

from functools import partial
from pathlib import Path
from sys import argv

import torch

from attnlib.pretrained import FOLDER
from attnlib.pretrained.recipes import make

if __name__ == "__main__":
    torch.set_num_threads(1)
    make(Path(argv[1]) if argv[1:] else FOLDER, partial(print, flush=True))
