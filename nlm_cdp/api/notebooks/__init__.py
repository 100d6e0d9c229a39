"""Notebooks, the wire's Project."""
