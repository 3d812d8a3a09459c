"""`mcplens tools`"""

from mcplens.cli.listing import list_command, tool_row

command = list_command(
    "tools",
    "tools",
    tool_row,
    """List the tools of a server.

    \b
    mcplens tools demo
    mcplens tools https://example.com/mcp
    mcplens tools -- python server.py
    """,
)
