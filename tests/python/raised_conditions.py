"""Raises every error condition, by `raise_condition` (java/), and checks what PySpark says."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

CLASSES = {"ANALYSIS": "AnalysisException", "EXECUTION": "QueryExecutionException"}
CONDITIONS = "error/firesteel-error-conditions.json"


def conditions_of(jar: Path) -> dict[str, dict[str, Any]]:
    """Every condition that the jar knows, with its message and state."""
    with ZipFile(jar) as archive:
        return dict(json.loads(archive.read(CONDITIONS)))


def wrong_answers(spark: SparkSession, jar: Path) -> list[str]:
    """Raise each condition before and during execution; return what is not as it must be."""
    warnings.simplefilter("ignore", FutureWarning)  # getErrorClass is deprecated, and still there
    return [
        f"{when} {condition}: {wrong}"
        for condition, about in conditions_of(jar).items()
        for when in CLASSES
        for wrong in _wrong(spark, when, condition, about)
    ]


def _wrong(spark: SparkSession, when: str, condition: str, about: dict[str, Any]) -> Iterator[str]:
    template = f"[{condition}] " + "\n".join(about["message"])
    text = re.sub(r"<(\w+)>", r"the \1", template)
    try:
        spark.sql(f"SELECT * FROM raise_condition('{when}', '{condition}')").collect()
    except PySparkException as error:
        answers = {
            "class": (type(error).__name__, CLASSES[when]),
            "condition": (error.getCondition(), condition),
            "error class": (error.getErrorClass(), condition),
            "state": (error.getSqlState(), about["sqlState"]),
            "parameters": (error.getMessageParameters(), _parameters(template)),
            "text": (str(error)[: len(text)], text),
            "message": (error.getMessage()[: len(text)], text),
            "placed": (bool(error.getQueryContext()), when == "ANALYSIS"),
        }
        yield from (f"{what} {got!r}" for what, (got, wanted) in answers.items() if got != wanted)
    else:
        yield "nothing raised"


def _parameters(template: str) -> dict[str, str]:
    return {name: f"the {name}" for name in re.findall(r"<(\w+)>", template)}
