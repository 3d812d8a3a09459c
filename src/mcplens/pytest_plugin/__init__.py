"""The pytest plugin: fixtures for MCP servers, and `*.mcp.yaml` files as test items.

Installed with mcplens (entry point `pytest11`). hooks.py is all that pytest loads; everything else
is imported when a test uses it.
"""
