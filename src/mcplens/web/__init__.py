"""The web UI's backend: one page, one WebSocket, and HTTP for what is large. Loaded by `web`."""
