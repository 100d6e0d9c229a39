"""Gemini Notebook (formerly NotebookLM) for agents, through the Chrome you already have open."""

__version__ = "0.1.0"
