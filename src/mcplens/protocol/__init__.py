"""The protocol as pure values and functions: no I/O, no clock, no async."""
