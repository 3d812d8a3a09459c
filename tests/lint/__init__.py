"""Lint: each rule finds what it is for, and reports say where."""
