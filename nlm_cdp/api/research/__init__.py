"""Research: the service looks for new sources, and some of them are imported."""
