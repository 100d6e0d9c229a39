"""The studio: artifacts, their making, reading and files."""
