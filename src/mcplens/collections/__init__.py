"""Calls that are kept in `NAME.mcp.yaml` files: read, edited in place, expanded, confirmed.

Pure of any connection: who runs them (workspace, command line) asks here what to send. ruamel.yaml
is imported when a file is read or written, and not before.
"""
