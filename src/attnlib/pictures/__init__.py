"""Pictures of alignments and of learning, some that a reader can touch; the source of a function to show beside."""
