"""Rules for what a server promises, its context cost, and reports of both. Pure values."""
