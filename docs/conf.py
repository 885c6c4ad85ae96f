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
# Only `--` becomes a dash, which autodoc puts after a parameter: quotes stay as they are typed.
smartquotes_action = "D"
nitpicky = True
# Types and errors of others, which this site does not document. Two are explained in words.
nitpick_ignore_regex = [
    ("py:.*", r"(pyspark|pyarrow|pa|numpy|np|npt|pandas|collections|typing|pathlib|os)\..*"),
    ("py:.*", r"(Column|DataFrame|SparkSession|SparkSession\.Builder|StreamingQuery|Row)"),
    ("py:.*", r"(StructType|AnalysisException|QueryExecutionException|StreamingQueryException)"),
    ("py:class", "Duration|Target"),
]

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "deflist"]

autodoc_typehints = "description"
autodoc_typehints_description_target = "documented_params"
autodoc_member_order = "bysource"
default_role = "py:obj"  # `name` in a docstring is a link to that name
napoleon_google_docstring = True
strip_signature_backslash = True  # napoleon then keeps the underscore of `async_`
napoleon_custom_sections = ["Source"]

html_theme = "furo"
html_title = "firesteel"
html_static_path = ["_static"]
html_css_files = ["custom.css"]
html_theme_options = {"source_edit_link": "", "navigation_with_keys": False}
html_show_sourcelink = False
