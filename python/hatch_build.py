"""Refuses to build a wheel or an sdist without exactly one jar, which hatch would not notice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class RequireJar(BuildHookInterface[Any]):
    """Checks that `build/sbt stageJar` has put the jar into the package."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Stop the build unless the package has its jar and no other jar.

        Args:
            version: ``standard``, or ``editable``. An editable install may come before the jar.
            build_data: Not used.

        Raises:
            RuntimeError: The jar is missing, or there is another jar.
        """
        if version == "editable":
            return
        found = sorted(jar.name for jar in Path(self.root, "src/firesteel/jars").glob("*.jar"))
        if found != ["firesteel.jar"]:
            raise RuntimeError(
                f"src/firesteel/jars must hold firesteel.jar and no other jar, but holds "
                f"{found or 'none'}: run `build/sbt stageJar` (or `make wheel`) first"
            )
