"""The documentation site: sphinx-build -W docs docs/_build/html"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from workbench import __version__  # noqa: E402

project = "Fluidproof"
author = "the authors of Fluidproof"
copyright = author
version = release = __version__

extensions = ["myst_parser", "sphinx_copybutton", "sphinx_design", "docs.building.extension"]
exclude_patterns = ["_build", "parts", "examples", "gallery", "building"]
source_suffix = {".md": "markdown"}
root_doc = "index"

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
myst_links_external_new_tab = False

html_theme = "furo"
html_title = "Fluidproof"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b5c8a", "color-brand-content": "#0b5c8a"},
    "dark_css_variables": {"color-brand-primary": "#6cc0ee", "color-brand-content": "#6cc0ee"},
}
smartquotes = False  # code in docstrings means itself
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
copybutton_prompt_text = "$ "
python_maximum_signature_line_length = 80
# Types in signatures are words there; the same short name is used by several modules.
suppress_warnings = ["ref.python"]
