"""Whatever was stored or typed reaches a terminal as text, and a reader of JSON as data."""

from __future__ import annotations

import json
import unicodedata

import pytest

from tests.cli.shell import Answer, Shell

NASTY = {
    "ansi": "\x1b[2J\x1b]0;title\x07\x9b31m",
    "newlines": "one\ntwo\r\nthree\ttab\u2028line\u2029paragraph",
    "direction": "\u202egnp.exe\u202c \u2066x\u2069 \u200bzero\u200d\ufeff",
    "markup": "[bold red]x[/] [link=https://a]b[/link] :smile: {{7*7}} <script>alert(1)</script>",
    "formula": "=cmd|' /C calc'!A0",
    "shell": "$(touch owned) `touch owned` ; touch owned # '\"",
    "wide": "漢字" * 60 + "🦀" * 20 + "é" * 50,
    "long": "x" * 1500,
}


def harmless(answer: Answer, *, width: int = 80) -> None:
    for line in answer.out.splitlines():
        for character in line:
            assert unicodedata.category(character) not in ("Cc", "Cf", "Zl", "Zp"), line
        if not line.lstrip().startswith("saga "):  # commands are to be pasted, on one line
            wide = sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)
            assert wide <= width, line


@pytest.mark.parametrize("name", list(NASTY))
def test_stored_text_is_inert_in_every_page(served: Shell, name: str) -> None:
    text = NASTY[name]
    start = ("start", "trips.py:app", "trip")
    value = json.dumps({"city": "Hostile", "note": text})
    refused = served.saga(*start, f"refused-{name}", value, "--wait")
    assert refused.code == 8, refused
    value = json.dumps({"city": "Rome", "note": text})
    landed = served.saga(*start, f"landed-{name}", value, "--wait")
    assert landed.code == 0
    pages = [refused, landed, served.saga("runs"), served.saga("why", f"refused-{name}")]
    for page in pages:
        harmless(page)
    receipt = served.json("show", f"landed-{name}")["steps"][1]["receipt"]
    assert receipt["note"] == text
    assert not (served.folder / "owned").exists()


def test_what_a_person_wrote_is_inert_too(served: Shell) -> None:
    start = ("start", "trips.py:app", "trip", "words", '{"city": "Typo"}', "--wait")
    assert served.saga(*start).code == 9
    text = NASTY["ansi"] + NASTY["direction"] + NASTY["markup"]
    read_at = served.json("case", "words/1")["read_at"]
    shown = ("--case-version", "1", "--looked-at", read_at)
    decided = served.saga("resolve", "words/1", "accept", "--reason", text, "--by", text, *shown)
    assert decided.code == 0
    for page in (decided, served.saga("case", "words/1"), served.saga("cases", "--state", "all")):
        harmless(page)
    assert served.json("case", "words/1")["reason"] == text


def test_what_was_typed_is_inert_in_errors(served: Shell) -> None:
    text = NASTY["ansi"] + NASTY["newlines"] + NASTY["direction"]
    for words in (
        ("show", text),
        ("case", text),
        ("runs", "--phase", text),
        ("resolve", "t/1", text, "--reason", "x", "--case-version", "1", "--looked-at", "2026"),
        ("check", text),
        ("start", "trips.py:app", text, "t", "{}"),
        ("start", "trips.py:app", "trip", text, '{"city": "Rome"}'),
        ("start", "trips.py:app", "trip", "t", text),
        ("pause", "--saga", text, "--reason", "x"),
        (text,),
        ("runs", "--db", f"sqlite:///{text}"),
        ("runs", f"--{text}"),
    ):
        answer = served.saga(*words)
        assert answer.code in (2, 3, 6), (words, answer)
        for line in answer.err.splitlines():
            assert line.isprintable(), (words, line)


def test_numbers_keep_every_digit(served: Shell) -> None:
    start = ("start", "trips.py:app", "trip", "digits", '{"city": "Typo"}', "--wait")
    assert served.saga(*start).code == 9
    for number in (9007199254740993, 2**63, 10**40):
        receipt = json.dumps({"ticket_id": "F", "seat": number, "note": str(number)})
        read_at = served.json("case", "digits/1")["read_at"]
        shown = ("--case-version", "1", "--looked-at", read_at)
        words = ("resolve", "digits/1", "landed", "--reason", "x", "--receipt", receipt, *shown)
        assert served.saga(*words).code in (0, 4)
    page = served.saga("show", "digits").out
    assert '"seat": 9007199254740993' in page
    assert served.json("show", "digits")["steps"][1]["receipt"]["seat"] == 9007199254740993
