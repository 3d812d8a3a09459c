"""Tests of the workspace: many servers at once, and what outlives whoever looks."""
