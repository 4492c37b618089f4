"""Bad inputs: refused with a sentence, the right exit code, and nothing written."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.shell import Shell

START = ("start", "trips.py:app", "trip", "t1")
DEEP = '{"city": ' + "[" * 100_000 + "]" * 100_000 + "}"

INPUTS: dict[str, tuple[bytes, str]] = {
    "duplicate keys": (b'{"city": "a", "city": "b"}', "twice"),
    "NaN": (b'{"city": NaN}', ""),
    "infinity": (b'{"city": Infinity}', ""),
    "an infinite number": (b'{"city": 1e400}', ""),
    "a lone surrogate": (rb'{"city": "\ud800"}', "surrogate"),
    "depth": (DEEP.encode(), "deep"),
    "a byte order mark": (b'\xef\xbb\xbf{"city": "a"}', "byte order mark"),
    "UTF-16": ('{"city": "a"}'.encode("utf-16"), ""),
    "not UTF-8": (b'{"city": "\xff"}', "UTF-8"),
    "U+0000": (rb'{"city": "\u0000"}', ""),
    "a raw control character": (b'{"city": "a\x01"}', ""),
    "trailing text": (b'{"city": "a"} and more', ""),
    "nothing": (b"", ""),
    "a comment": (b'{"city": "a"} // yes', ""),
    "single quotes": (b"{'city': 'a'}", ""),
    "an array": (b"[1]", "no JSON object"),
    "a scalar": (b"null", "no JSON object"),
    "an unknown field": (b'{"city": "a", "cities": "b"}', "cities"),
    "a missing field": (b"{}", "city: is missing"),
    "a number for text": (b'{"city": 1}', "valid string"),
    "more than a record takes": (b'{"city": "' + b"a" * 200_000 + b'"}', "the limit is"),
    "more than is read": (b" " * 2_000_000, "more than 1048576 bytes"),
}


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    folder = tmp_path_factory.mktemp("bare")
    (folder / "trips.py").write_text(Path(__file__).with_name("trips.py").read_text())
    return Shell(folder)


def test_input_that_is_no_strict_json_or_does_not_fit(bare: Shell) -> None:
    for number, (given, _) in enumerate(INPUTS.values()):
        (bare.folder / f"{number}.json").write_bytes(given)
    words = [(*START, f"@{number}.json", "--json") for number in range(len(INPUTS))]
    for (name, (_, says)), answer in zip(INPUTS.items(), bare.all(words), strict=True):
        assert (answer.code, answer.out) == (2, ""), (name, answer)
        assert says in answer.error["message"], name
    assert not bare.database.exists()


def test_an_id_that_is_none(bare: Shell) -> None:
    ids = [
        "",
        " ",
        "a b",
        "a/b",
        "../x",
        ".",
        "..",
        "é",
        "a\nb",
        "x" * 129,
        "a%",
        "' OR '1'='1",
        "٣",
    ]
    words = [("start", "trips.py:app", "trip", one, '{"city": "Rome"}', "--json") for one in ids]
    for run_id, answer in zip(ids, bare.all(words), strict=True):
        assert (answer.code, answer.error["error"]) == (2, "BadInput"), (run_id, answer)
    assert not bare.database.exists()


def test_a_duration_that_is_none(bare: Shell) -> None:
    durations = ["", "-1", "nan", "inf", "1e9", "5 m", "2d", "1,5", "٣", "5x", "9" * 400]
    start = (*START, '{"city": "Rome"}', "--wait", "--json", "--timeout")
    answers = bare.all([(*start, duration) for duration in durations])
    for duration, answer in zip(durations, answers, strict=True):
        assert (answer.code, answer.error["error"]) == (2, "UsageError"), (duration, answer)
    assert not bare.database.exists()


MEANINGLESS: list[tuple[str, ...]] = [
    ("start",),
    ("start", "trips.py:app", "trip", "t1"),
    ("start", "trips.py:app", "trip", "t1", "{}", "more"),
    (*START, '{"city": "Rome"}', "--timeout", "1s"),  # without --wait
    (*START, "@no-such-file"),
    (*START, "@."),
    ("show",),
    ("show", "t1", "--no-such-option"),
    ("no-such-verb",),
    ("cancel", "t1"),
    ("orchestrator",),
    ("orchestrator", "trips.py:app", "--lease", "0"),
    ("orchestrator", "trips.py:app", "--poll", "0s"),
    ("check",),
    ("db",),
    ("db", "downgrade"),
    ("runs", "--limit", "many"),
]


def test_words_that_mean_nothing(bare: Shell) -> None:
    for words, answer in zip(MEANINGLESS, bare.all(MEANINGLESS), strict=True):
        assert answer.code == 2, (words, answer)
        assert answer.err or answer.out, words  # `saga db` alone shows its help
    assert not bare.database.exists()


QUESTIONS: list[tuple[tuple[str, ...], int]] = [
    (("runs", "--limit", "0"), 2),
    (("runs", "--limit", "-1"), 2),
    (("runs", "--limit", str(2**70)), 2),
    (("runs", "--phase", "x') OR '1'='1"), 2),
    (("runs", "--saga", "%"), 2),
    (("runs", "--after", "a b"), 2),
    (("cases", "--state", "half"), 2),
    (("show", "x') OR '1'='1"), 3),
    (("show", "T1"), 3),  # ids are compared byte for byte
    (("show", "t1 "), 3),
    (("why", "nobody"), 3),
    (("wait", "nobody"), 3),
    (("cancel", "nobody", "--reason", "x"), 3),
    (("case", "nobody/1"), 3),
    (("case", "../../etc/passwd"), 3),
    (("resolve", "nobody/1", "accept", "--reason", "x"), 3),
    (("verify", "nobody"), 3),
    (("cancel", "t1", "--reason", ""), 2),
    (("cancel", "t1", "--reason", " \n"), 2),
    (("cancel", "t1", "--reason", "x" * 3000), 2),
    (("cancel", "t1", "--reason", "x", "--by", ""), 2),
]


def test_questions_that_cannot_be_meant(served: Shell) -> None:
    served.saga("start", "trips.py:app", "trip", "t1", '{"city": "Rome"}', "--wait")
    before = served.json("show", "t1")
    answers = served.all([(*words, "--json") for words, _ in QUESTIONS])
    for (words, code), answer in zip(QUESTIONS, answers, strict=True):
        assert (answer.code, answer.out) == (code, ""), (words, answer)
        assert answer.error["message"]
    assert served.json("show", "t1") == before


@pytest.mark.parametrize(
    "url",
    [
        "mysql://me:hunter2@db/saga",
        "postgresql://me:hunter2@db/saga",
        "sqlite://",
        "sqlite:///:memory:",
        "saga.db",
        "nonsense",
        "sqlite:////no/such/folder/saga.db",
        "sqlite:////tmp",
        f"sqlite:////tmp/{'long' * 60}.db",
        f"sqlite:////tmp/{'a' * 300}",
        "sqlite:////tmp/nul%00.db",
        "sqlite:///saga.db?mode=ro",
        "postgresql://me:hunter2@/x?foo=hunter2",
        "postgresql://%ff:hunter2@/x",
        "postgresql://me:hunter2@/x\udcff",
    ],
)
def test_a_database_that_cannot_be_had_is_six_and_shows_no_password(bare: Shell, url: str) -> None:
    verbs = (("runs",), (*START, '{"city": "Rome"}'), ("db", "check"), ("db", "upgrade"))
    answers = bare.all([(*words, "--db", url) for words in verbs])
    for words, answer in zip(verbs, answers, strict=True):
        assert answer.code == 6, (words, answer)
        assert "hunter2" not in answer.err
        assert "Traceback" not in answer.err


@pytest.mark.parametrize(
    ("url", "advice"),
    [
        ("postgresql://127.0.0.1:1/saga", "see that the server is up"),
        ("postgresql://127.0.0.1/saga?foo=bar", "write it as postgresql://"),
        ("sqlite:///text.db", "name the file that saga has made"),
        ("sqlite:///saga.db?mode=ro", "leave them out"),
    ],
)
def test_who_names_a_database_that_cannot_be_had_is_told_what_to_do(
    bare: Shell, url: str, advice: str
) -> None:
    (bare.folder / "text.db").write_text("no database" * 1000)
    told = bare.saga("runs", "--db", url, "--json").error
    assert told["remedy"].startswith(advice)


def test_a_pause_holds_every_version(bare: Shell) -> None:
    answer = bare.saga("pause", "--effect", "hotel.book@1", "--reason", "so", "--json")
    assert (answer.code, answer.error["remedy"]) == (
        2,
        "leave the version off: --effect hotel.book",
    )


def test_an_empty_url_is_bad_input(bare: Shell) -> None:
    assert bare.saga("runs", "--db", "").code == 2


def test_a_file_that_may_not_be_read_is_six(bare: Shell) -> None:
    """Root may read everything, so this is shown with a folder in its place as well."""
    (bare.folder / "folder.db").mkdir(exist_ok=True)
    answer = bare.saga(*START, '{"city": "Rome"}', "--db", "sqlite:///folder.db")
    assert answer.code == 6
    assert "folder.db" in answer.err


@pytest.mark.parametrize("name", ["odd\udcff.db", "odd%FF.db", "what is this%3F.db"])
def test_a_file_may_have_any_name_that_the_system_takes(bare: Shell, name: str) -> None:
    url = f"sqlite:///{name}"
    assert bare.saga(*START, '{"city": "Rome"}', "--db", url).code == 0
    assert "running" in bare.saga("runs", "--db", url).out
