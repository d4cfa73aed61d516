"""English and French sentences whose word links are known: their words, their phrases, whole sentences."""
