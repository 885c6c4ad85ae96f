"""Refuses to build a wheel or an sdist without its jars, which hatch would not notice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class RequireJar(BuildHookInterface[Any]):
    """Checks that `build/sbt stageJar` has put jars into the package."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Stop the build unless the package has jars, each of a supported version of Spark.

        Args:
            version: ``standard``, or ``editable``. An editable install may come before the jar.
            build_data: Not used.

        Raises:
            RuntimeError: There is no jar, or another jar.
        """
        if version == "editable":
            return
        found = sorted(jar.name for jar in Path(self.root, "src/firesteel/jars").glob("*.jar"))
        if not found or not set(found) <= {f"firesteel-4.{minor}.jar" for minor in range(4)}:
            raise RuntimeError(
                "src/firesteel/jars must hold jars like firesteel-4.3.jar and no others, but holds "
                f"{found or 'none'}: run `build/sbt stageJar` (or `make wheel`) first"
            )
