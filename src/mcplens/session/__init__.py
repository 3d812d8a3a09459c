"""Drives the pure protocol over one transport: connection, queue, client, what the server says."""
