"""Labels of sources, and collections of notebooks, which the wire treats alike."""
