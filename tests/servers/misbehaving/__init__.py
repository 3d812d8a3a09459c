"""Servers that break the protocol on purpose, one fault at a time, and do all else right."""
