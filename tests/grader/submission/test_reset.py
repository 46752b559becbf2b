"""Where the values of a JSON text stand; what `grader reset` does with it, its own tests try."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from grader.submission.reset import apply_edits, value_spans

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=12
)
LAYOUTS: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [
        {},
        {"indent": 1},
        {"indent": "\t"},
        {"separators": (",", ":")},
        {"separators": (" ,\r\n", " : ")},
        {"indent": 2, "ensure_ascii": False},
    ]
)


@settings(deadline=None)
@given(st.dictionaries(st.text(), VALUES), LAYOUTS, st.sampled_from(["", " \n", "\ufeff"]))
def test_the_values_of_an_object(
    document: dict[str, Any], layout: dict[str, Any], before: str
) -> None:
    text = before + json.dumps(document, **layout)
    spans = value_spans(text, text.index("{"))
    assert {key: json.loads(text[span]) for key, span in spans.items()} == document


@settings(deadline=None)
@given(st.lists(VALUES), LAYOUTS)
def test_the_items_of_an_array(items: list[Any], layout: dict[str, Any]) -> None:
    text = json.dumps(items, **layout)
    spans = value_spans(text, 0)
    assert list(spans) == list(range(len(items)))
    assert [json.loads(text[span]) for span in spans.values()] == items


@settings(deadline=None)
@given(st.dictionaries(st.text(), VALUES, min_size=1), LAYOUTS, st.data())
def test_an_edit_changes_that_value_alone(
    document: dict[str, Any], layout: dict[str, Any], data: st.DataObject
) -> None:
    text = json.dumps(document, **layout)
    spans: dict[Any, slice] = value_spans(text, 0)
    keys = data.draw(st.sets(st.sampled_from(sorted(document))))
    edited = apply_edits(text, [(spans[key], '"new"') for key in keys])
    assert json.loads(edited) == document | dict.fromkeys(keys, "new")


def test_of_equal_keys_the_last_counts() -> None:
    text = '{"a": 1, "a": {"b": 2}, "c": NaN}'
    assert text[value_spans(text, 0)["a"]] == '{"b": 2}'


def test_edits_need_no_order() -> None:
    edits = [(slice(2, 3), "C"), (slice(0, 1), "AAA"), (slice(1, 1), "+")]
    assert apply_edits("abc", edits) == "AAA+bC"
