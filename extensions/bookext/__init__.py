"""What this book adds to Sphinx and to the theme."""
