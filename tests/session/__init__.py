"""Tests of mcplens.session over the memory transport, with time that stands still."""
