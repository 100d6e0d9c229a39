"""MCP: tools, resources and prompts over any pair of byte streams."""
