"""`mcplens prompts`"""

from mcplens.cli.listing import list_command, prompt_row

command = list_command(
    "prompts",
    "prompts",
    prompt_row,
    """List the prompts of a server.

    \b
    mcplens prompts demo
    """,
)
