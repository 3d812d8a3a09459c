"""Tests of the command line: the real command, as a process, against real servers."""
