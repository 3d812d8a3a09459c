"""The transports, each against real servers."""
