"""Sentences whose word links are known, in English and French, or English and German: words, phrases, sentences."""
