"""check and draw, and the ways to name an app."""

from __future__ import annotations

import json

import pytest

from tests.cli.shell import Shell

ROME = '{"city": "Rome"}'


def write(shell: Shell, name: str, text: str) -> None:
    path = shell.folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_check_lists_sagas_and_what_will_cost_a_persons_time(shell: Shell) -> None:
    found = shell.json("check", "trips.py:app")
    (saga,) = found["sagas"]
    assert (saga["name"], saga["version"], saga["steps"]) == ("trip", 1, ["hotel", "flight"])
    assert saga["digest"].startswith("sha256:")
    codes = {(warning["step"], warning["code"]) for warning in saga["warnings"]}
    assert ("flight", "nobody-can-say") in codes
    page = shell.saga("check", "trips.py:app")
    assert page.code == 0
    assert "a crash in" in page.out
    assert not shell.database.exists()


def test_a_bad_definition_is_seven_with_code_and_remedy(shell: Shell) -> None:
    text = (shell.folder / "trips.py").read_text()
    write(shell, "bad.py", text.replace('    "hotel",\n', '    "flight",\n', 1))
    answer = shell.saga("check", "bad.py:app")
    assert answer.code == 7
    assert "[duplicate" in answer.err
    as_json = shell.saga("check", "bad.py:app", "--json")
    assert (as_json.code, as_json.out, as_json.error["error"]) == (7, "", "DefinitionError")
    assert as_json.error["remedy"]
    for verb in (("start", "bad.py:app", "trip", "t1", ROME), ("orchestrator", "bad.py:app")):
        assert shell.saga(*verb).code == 7


def test_draw_gives_mermaid_text_alone_on_stdout(shell: Shell) -> None:
    answer = shell.saga("draw", "trips.py:app", "trip")
    assert answer.out.startswith("flowchart TD\n")
    assert answer.err == ""
    as_json = shell.json("draw", "trips.py:app", "trip@1")
    assert as_json == {"saga": "trip", "version": 1, "mermaid": answer.out}
    assert shell.saga("draw", "trips.py:app", "trip@2").code == 2
    assert shell.saga("draw", "trips.py:app", "trop").code == 2


@pytest.mark.parametrize(
    "app", ["trips:app", "trips.py:app", "./trips.py:app", "deep.er.trips:app"]
)
def test_an_app_is_named_by_module_or_file(shell: Shell, app: str) -> None:
    write(shell, "deep/er/__init__.py", "")
    write(shell, "deep/er/trips.py", (shell.folder / "trips.py").read_text())
    assert shell.json("check", app)["app"] == app


def test_a_file_may_be_called_like_a_module_of_python(shell: Shell) -> None:
    write(shell, "json.py", (shell.folder / "trips.py").read_text().replace("import json", ""))
    assert shell.saga("check", "./json.py:app").code == 0


@pytest.mark.parametrize(
    ("app", "says"),
    [
        ("trips.py", "write module:name or file.py:name"),
        ("trips.py:", "write module:name or file.py:name"),
        (":app", "write module:name or file.py:name"),
        ("trips.py:nope", "it has: app"),
        ("trips.py:trips", "write served = App(trips), and name that"),
        ("nowhere.py:app", "no file 'nowhere.py'"),
        ("nowhere:app", "No module named 'nowhere'"),
        ("../x:app", "no file '../x'"),
        ("os;system:app", "is no module name"),
        ("broken.py:app", "SyntaxError"),
        ("raises.py:app", "ZeroDivisionError"),
        ("exits.py:app", "SystemExit"),
    ],
)
def test_an_app_that_cannot_be_had_is_bad_input(shell: Shell, app: str, says: str) -> None:
    write(shell, "broken.py", "def (:\n")
    write(shell, "raises.py", "x = 1\n1 / 0\n")
    write(shell, "exits.py", "import sys\nsys.exit(0)\n")
    answer = shell.saga("check", app)
    assert answer.code == 2, answer
    assert says in answer.err
    assert "Traceback" not in answer.err


def test_what_an_app_prints_while_it_is_imported_goes_to_stderr(shell: Shell) -> None:
    write(shell, "loud.py", "print('hello from the module')\nfrom trips import app\n")
    answer = shell.saga("check", "loud.py:app", "--json")
    assert json.loads(answer.out)["app"] == "loud.py:app"
    assert answer.err == "hello from the module\n"


def test_the_order_flow_of_the_example_checks_without_a_warning(
    shell: Shell,
) -> None:
    found = shell.json("check", "examples.order_flow.order_flow:app")
    assert [saga["name"] for saga in found["sagas"]] == ["order-flow"]
    assert found["sagas"][0]["warnings"] == []
