"""What a user installs: the locks and the built wheel."""
