"""Results checked against the schema of Gradescope's specification."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema

SCHEMA = json.loads(Path(__file__).with_name("gradescope_schema.json").read_text("utf-8"))


def validate(results: Mapping[str, Any]) -> None:
    """Raise ValidationError unless Gradescope would understand the results, as JSON has them."""
    jsonschema.Draft202012Validator(SCHEMA).validate(json.loads(json.dumps(results)))
