"""mcplens beside `mcp.Client`, `fastmcp.Client` and a hand-written floor: `make bench`.

Every contender runs in a process of its own (worker.py) against servers in others, so that only
the client's CPU is counted; the rounds of all contenders are interleaved, so that a busy machine
slows them alike. measure.py runs the rounds, report.py judges and prints them. cold_start.py,
command_line.py and one_test.py measure whole programs, recording.py and million.py what is
recorded, flood.py how servers disturb each other.
"""
