"""The documentation site: pages by hand in this folder, `docs.building` writes the others. Build it with

sphinx-build -W docs docs/_build/html
"""
