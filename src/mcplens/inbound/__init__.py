"""Server-side transports: a client connects to us. Used by the demo server and the gateway."""
