"""Small real MCP servers for the tests, run as subprocesses. None of them imports mcplens."""
