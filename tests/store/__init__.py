"""Tests of the recording: real files, real processes."""
