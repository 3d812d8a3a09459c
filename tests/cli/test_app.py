"""`mcplens app`: why an app may stay blank, without a browser."""

import json

from mcplens.cli import exit_codes
from tests.cli.shell import Shell


def test_an_app_that_can_start_is_shown_with_its_policy(shell: Shell) -> None:
    done = shell.run("app", "demo", "app-everything", "--call")
    assert done.code == exit_codes.DONE
    assert "ui://demo/everything" in done.text
    assert "script-src 'unsafe-inline'" in done.text
    assert "Nothing was found that keeps it blank." in done.text


def test_a_blank_app_is_explained_with_the_line_and_the_domain(shell: Shell) -> None:
    done = shell.run("app", "demo", "app-blank")
    assert done.code == exit_codes.FAILED
    words = " ".join(done.text.split())
    assert "warning csp is declared on the tool, where hosts ignore it" in words
    assert "error line 6: https://cdn.mcplens.invalid/app.js is blocked by script-src" in words
    assert "declare https://cdn.mcplens.invalid in csp.resourceDomains" in words


def test_the_findings_are_data_too(shell: Shell) -> None:
    done = shell.run("app", "demo", "app-blank", "--json", "--profile", "reference")
    assert done.code == exit_codes.FAILED
    report = json.loads(done.text)
    codes = [finding["code"] for finding in report["findings"]]
    assert codes == ["policy-on-tool", "undeclared-origin"]
    assert "'unsafe-eval'" in report["policy"]


def test_a_tool_without_an_app_fails_and_an_unknown_one_is_refused(shell: Shell) -> None:
    none = shell.run("app", "demo", "echo")
    assert none.code == exit_codes.FAILED
    assert "the tool echo has no app" in none.text
    hidden = shell.run("app", "demo", "app-everything", "--no-apps")
    assert "has no app" in hidden.text
    assert shell.run("app", "demo", "app-evrything").code == exit_codes.REFUSED
