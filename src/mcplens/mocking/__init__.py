"""Recordings as servers: one server of one recorded run, read as calls, served and verified.

    with read_trace_file("run.jsonl") as recording:
        async with mcplens.connect(mock_transport(MockServer(recording))) as client: ...

`MockServer` is also a handler for every transport of mcplens.inbound. Called by `mcplens mock` and
`mcplens verify`; cassettes of tests can use the same names.
"""

from mcplens.mocking.memory_serving import mock_transport
from mcplens.mocking.mock_server import MockServer
from mcplens.mocking.recorded_calls import RecordedCall, RecordedServer
from mcplens.mocking.recording_reader import RecordingUnclear, read_rows, read_trace_file

__all__ = [
    "MockServer",
    "RecordedCall",
    "RecordedServer",
    "RecordingUnclear",
    "mock_transport",
    "read_rows",
    "read_trace_file",
]
