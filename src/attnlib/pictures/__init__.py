"""Pictures of alignments and of learning, those that a reader can touch, and the source of a function to show beside."""
