"""Notes of a notebook."""
