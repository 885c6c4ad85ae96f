"""The manual as a site: Markdown pages, and the Python API from docstrings.

Sphinx, because Spark's own Python documentation is made with it, it reads docstrings without a
plug-in of a third party, and ``-W`` turns every dead link and anchor into an error.
"""

from __future__ import annotations

import firesteel

project = "firesteel"
author = "The firesteel authors"
copyright = "The firesteel authors. Apache License 2.0"
version = release = firesteel.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
exclude_patterns: list[str] = ["parts"]  # pieces that pages include
nitpicky = False
smartquotes = False  # messages and SQL must stay as they are typed
# Types of others, which this site does not document.
nitpick_ignore_regex = [
    ("py:.*", r"(pyspark|pyarrow|pandas|collections|typing|pathlib|datetime|decimal)\..*"),
    ("py:.*", r"(Column|DataFrame|SparkSession|SparkSession\.Builder|StreamingQuery|Row)"),
]

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "deflist"]

autodoc_typehints = "description"
autodoc_member_order = "bysource"
napoleon_google_docstring = True

html_theme = "furo"
html_title = "firesteel"
html_theme_options = {"source_edit_link": "", "navigation_with_keys": False}
html_show_sourcelink = False
