"""Tests of mcplens.protocol: pure, so no clock, no loop, no server."""
