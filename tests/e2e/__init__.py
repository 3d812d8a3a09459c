"""The built page in a real browser, served by the real command."""
