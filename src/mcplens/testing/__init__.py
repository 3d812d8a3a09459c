"""Tests of MCP servers: runs the steps of `*.mcp.yaml` files, compares, and writes reports.

Called by `mcplens test` and by the pytest plugin. What a file says is read by
mcplens.collections.test_file.
"""
