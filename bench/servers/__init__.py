"""Servers that say just enough MCP (2025-11-25) and answer from memory, each its own process."""
