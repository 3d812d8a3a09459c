"""Tap: passes every byte between a real client and its server, and records what passes."""
