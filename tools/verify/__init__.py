"""Try what the book promises, harder than its tests do, and record what was found."""
