"""The recording: events are written while they happen, and read back as the same events.

`Recorder` writes a run to one SQLite file (and a trace file), `History` reads and searches it,
`trace_transfer` exports runs to trace files and imports them. Import from the modules: loading one
does not load the others.
"""

__all__: list[str] = []
