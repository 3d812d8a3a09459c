"""A server that keeps the protocol, in both eras: one pure brain, an adapter per transport."""
