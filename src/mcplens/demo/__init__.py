"""A small MCP server without any SDK that uses every feature: something to try mcplens on."""
