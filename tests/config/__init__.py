"""Configuration: our files, other tools' files, and writing them."""
