"""The live servers of a process: connections, catalogs and states, for any number of surfaces.

A `ServerConnection` opens a session for each operation, or keeps one open.
"""
