"""`mcplens resources`"""

from mcplens.cli.listing import list_command, resource_row

command = list_command(
    "resources",
    "resources",
    resource_row,
    """List the resources of a server.

    \b
    mcplens resources demo
    """,
)
