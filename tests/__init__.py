"""The tests of mcplens. A package, so that no installed `tests` can stand in its place."""
