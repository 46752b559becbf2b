from __future__ import annotations

from makemore_data import build_vocabulary


def test_the_lectures_numbering() -> None:
    stoi, itos = build_vocabulary()
    assert len(stoi) == len(itos) == 27
    assert [stoi[c] for c in ".abz"] == [0, 1, 2, 26]
    assert all(itos[stoi[c]] == c for c in stoi)


def test_as_the_lecture_makes_it_from_the_names(bundled_names: list[str]) -> None:
    chars = sorted(set("".join(bundled_names)))
    stoi = {s: i + 1 for i, s in enumerate(chars)}
    stoi["."] = 0
    assert build_vocabulary().stoi == stoi


def test_one_callers_changes_do_not_reach_another() -> None:
    build_vocabulary().stoi["a"] = 99
    assert build_vocabulary().stoi["a"] == 1
