"""Real text: read from files, cut into words or subwords, learnt from, translated."""
