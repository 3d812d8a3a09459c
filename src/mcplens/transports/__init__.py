"""Bytes to frames and back: one transport per way of reaching a server."""
