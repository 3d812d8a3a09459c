"""The official conformance suite, pointed at mcplens as a client."""
