"""Tests of the documentation: that it is whole, and that what it shows is what happens."""
