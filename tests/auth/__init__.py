"""Tests of mcplens.auth, against real servers, broken ones, and without any."""
