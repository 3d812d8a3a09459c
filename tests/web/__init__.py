"""Tests of the web UI's backend: real servers, real sockets."""
