"""Sources: what a notebook is made of, and every way to add to it."""
