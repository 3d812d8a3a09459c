"""OAuth: signs in to protected servers, step by step, and keeps what came of it."""
