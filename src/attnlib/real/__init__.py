"""Real sentences: captions of our own, with links, and trainings on a text that you have.

- `captions`: sixty captions in three languages, and which word translates which;
- `plan`: what is trained, on how much text, with how many seeds;
- `data`: the files that it is trained on;
- `measures`: one run, and what is recorded of it;
- `records`: the recorded runs, read and written;
- `verdicts`: what they decide;
- `runner`: all runs, one command.
"""
