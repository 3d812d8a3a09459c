"""Many servers at once, for a UI that stays open: connections, calls, questions, tasks.

They live on while no page is open. Used by the web UI.
"""
