"""A server that does as the test says, for questions at a terminal."""

import json
import sys
from typing import Any

from tests.cli.terminal import Terminal

ERAS = ["2025-11-25", "2026-07-28"]
LEGACY = ("--protocol", ERAS[0])

# Speaks 2025-11-25. Its tool's argument `script` says what to do, step by step: ask a question, say
# a notification, report progress, wait for an answer, hold until a file can be read, hear a
# notification and write that to a file, die; ask later, when a file can be read after the result.
# The answers that came are the result.
SERVER = """
import json, os, sys
def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
def told():
    return json.loads(sys.stdin.readline())
answers = {}
def until(found):
    while True:
        message = told()
        if "method" not in message:
            answers[message["id"]] = message.get("result", message.get("error"))
        if found(message):
            return
while True:
    message = told()
    method = message.get("method")
    if method == "initialize":
        capabilities = {"tools": {}, "logging": {}}
        send(id=message["id"], result={"protocolVersion": "2025-11-25",
             "capabilities": capabilities, "serverInfo": {"name": "s", "version": "1"}})
    elif method == "tools/list":
        send(id=message["id"], result={"tools": [{"name": "go", "inputSchema": {}}]})
    elif method == "tools/call":
        for step in message["params"]["arguments"]["script"]:
            for what, value in step.items():
                if what == "ask":
                    send(id=value[0], method=value[1], params=value[2])
                elif what == "say":
                    send(method=value[0], params=value[1])
                elif what == "wait" and value not in answers:
                    until(lambda each: value in answers)
                elif what == "progress":
                    token = message["params"]["_meta"]["progressToken"]
                    send(method="notifications/progress",
                         params={"progressToken": token, "progress": value, "total": 100})
                elif what == "hear":
                    until(lambda each: each.get("method") == value[0])
                    open(value[1], "w").write("heard")
                elif what == "hold":
                    open(value).read()
                elif what == "die":
                    os._exit(3)
        text = json.dumps(answers)
        send(id=message["id"], result={"content": [{"type": "text", "text": text}]})
        for step in message["params"]["arguments"]["script"]:
            if "later" in step:
                file, (number, method, params) = step["later"]
                open(file).read()
                send(id=number, method=method, params=params)
    elif method is None:
        answers[message["id"]] = message.get("result", message.get("error"))
"""

Step = dict[str, Any]
NAME: dict[str, Any] = {
    "type": "object",
    "properties": {"name": {"type": "string"}},
    "required": ["name"],
}


def scripted(*steps: Step) -> list[str]:
    words = ["call", "go", "--args", json.dumps({"script": steps}), *LEGACY]
    return [*words, "--", sys.executable, "-c", SERVER]


def form(schema: object, message: str = "Who?", number: int = 1) -> Step:
    params = {"message": message, "requestedSchema": schema}
    return {"ask": [number, "elicitation/create", params]}


def result_of(screen: Terminal) -> dict[str, Any]:
    """The answers that the server got."""
    found = next(line for line in reversed(screen.lines) if line.startswith("{"))
    answers = json.loads(found)
    assert isinstance(answers, dict)
    return answers
