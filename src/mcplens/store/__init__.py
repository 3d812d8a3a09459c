"""The recording of what happened: written while it happens, read back as the same events.

`Recorder` writes a run into one SQLite file (and a trace file), `History` reads and searches it,
`transfer` moves runs between the store and trace files. Import from the modules: loading one
does not load the others.
"""

__all__: list[str] = []
