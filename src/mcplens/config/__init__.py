"""Servers and settings from files: ours, and those of other tools."""
