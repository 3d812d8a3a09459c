"""`mcplens templates`"""

from mcplens.cli.listing import list_command, template_row

command = list_command(
    "templates",
    "resource_templates",
    template_row,
    """List the resource templates of a server.

    \b
    mcplens templates demo
    """,
)
