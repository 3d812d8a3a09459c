"""A small MCP server without any SDK, so that mcplens can be tried with nothing else installed."""
