"""Sentences whose word links are known, in English and French: words, phrases, sentences."""
