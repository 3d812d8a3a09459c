"""Tests of the demo server."""
