"""Checks a server step by step, in the order in which things fail, and says what would help.

`Examination` runs the checks; `failed_step` names the step that an error belongs to, also for the
command line's error reports. Nothing here calls a tool or changes anything on a server.
"""
