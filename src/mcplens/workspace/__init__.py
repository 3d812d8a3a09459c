"""Many servers at once, as a surface that stays open holds them: connections, calls, questions.

Everything here outlives whoever looks at it. The web UI is its first user.
"""
