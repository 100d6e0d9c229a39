"""Rows and bytes: what travels between the page and the service. Pure: no I/O, no concurrency."""
