"""Mutated frames: through the parser alone, and through whole sessions."""
