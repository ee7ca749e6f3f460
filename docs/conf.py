"""Configuration of Sphinx, which builds the pages of this folder: `make docs`."""

from __future__ import annotations

import importlib.metadata

project = "symseed"
author = "The symseed authors"
version = release = importlib.metadata.version("symseed")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
exclude_patterns = ["records"]
default_role = "code"  # the role of single backticks in docstrings
maximum_signature_line_length = 100

html_theme = "furo"
html_title = f"symseed {version}"
html_static_path = ["static"]
html_css_files = ["symseed.css"]
html_show_sphinx = False
html_show_copyright = False
html_show_sourcelink = False

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
napoleon_custom_sections = ["Warns"]
napoleon_use_ivar = True

# Links lead to names that are documented here. Types of other packages have no link, since the site is built without a
# network; neither do internal types: those of the native module, and those that callbacks receive.
nitpick_ignore_regex = [
    ("py:.*", r"(?!symseed\.).*"),
    (
        "py:class",
        r"symseed\.(_core|regressor\.(target|front|fitting)|portfolio\.states|language\.(functions|template)|data\.backend)\..*",
    ),
]

copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = True
