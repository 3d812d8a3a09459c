"""Tests of the server-side transports."""
