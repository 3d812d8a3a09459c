"""What a server promises: locks of it, and the changes between two of them. Pure values."""
