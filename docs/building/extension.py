"""The Sphinx extension: writes the reference before pages are read, runs what they show, and puts it where they ask for it.

```{verdict} tracking holds       a case; the claim `tracking` is asked of it and must hold
:figure: errors                   figures of its report
:with: practical-stability        claims that it needs beside it
```
```{drawn} machines hiab-xs031    a picture of `docs.building.pictures`
```{equations}                    lines of equations in plain characters, set by `docs.building.equations`
```{shown} NAME, ```{printed} NAME, ```{thumbnail} NAME        of an entry of the gallery
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from docs.building import gallery, jobs, pages
from docs.building.equations import mathml
from docs.building.wrapped import on_site

tell = logging.getLogger(__name__)
WORDS = {"holds": "holds", "violated": "is violated", "undecided": "is undecided"}


class _Ran(SphinxDirective):
    """A directive that shows what a job found."""

    has_content = True
    optional_arguments = 3
    final_argument_whitespace = False
    option_spec = {name: directives.unchanged for name in ("figure", "with", "row", "alt", "about")}

    def found(self, job: jobs.Job) -> dict:
        """What the job told; a warning with the reason where it failed."""
        told = job.told if (job.folder / "told.json").exists() else {"error": "it was not run"}
        if "error" in told:
            tell.warning("%s: %s", " ".join(job.words), told["error"], location=self.get_location())
        return told

    def pictures(self, job: jobs.Job, told: dict, alt: str) -> list[nodes.Node]:
        """Image nodes of its pictures."""
        source = Path(self.env.doc2path(self.env.docname)).parent
        made = []
        for name in told.get("pictures", ()):
            path = os.path.relpath(job.folder / name, source)
            made.append(nodes.image(uri=path, alt=alt, classes=["drawn"]))
        return made


class VerdictOf(_Ran):
    """A case, the verdict that a claim gets on it, and its figure."""

    def run(self) -> list[nodes.Node]:
        """The case as printed, then what came out."""
        text = "\n".join(self.content)
        options = tuple(sorted((k, v.strip()) for k, v in self.options.items()))
        job = jobs.Job("verdict", tuple(self.arguments), text, options)
        told = self.found(job)
        asked, expected = self.arguments
        code = nodes.literal_block(text, text, language="yaml")
        if "error" in told:
            return [code]
        if told["word"] != expected:
            tell.warning(
                "%s: %s, not %s: %s",
                asked,
                told["word"],
                expected,
                told["worst"],
                location=self.get_location(),
            )
        alt = self.options.get("alt", f"figure of {asked}")
        return [code, self._row(asked, told), *self.pictures(job, told, alt)]

    def _row(self, asked: str, told: dict) -> nodes.Node:
        box = nodes.container(classes=["verdict", f"verdict-{told['word']}"])
        head = nodes.paragraph()
        head += nodes.strong(text=f"{asked} {WORDS[told['word']]}")
        behind = [told["strength"]] if told["strength"] else []
        behind += [f"margin {told['margin']}"] if told["margin"] else []
        behind += [f"limit {told['limit']}"] if told["limit"] else []
        behind += [] if told["counted"] else ["information"]
        head += nodes.Text(" · " + " · ".join(behind) if behind else "")
        box += head
        box += nodes.paragraph(text=told["claim"])
        if told["worst"]:
            box += nodes.paragraph(
                text=f"Worst: {told['worst']}"
                if told["word"] != "undecided"
                else f"Why: {told['worst']}"
            )
        return box


class Drawn(_Ran):
    """A picture of `docs.building.pictures`."""

    def run(self) -> list[nodes.Node]:
        """The picture."""
        options = tuple(sorted((k, v.strip()) for k, v in self.options.items()))
        job = jobs.Job("drawn", tuple(self.arguments), "", options)
        return self.pictures(job, self.found(job), self.options.get("alt", ""))


class _OfEntry(_Ran):
    """What an entry of the gallery made."""

    def entry(self) -> tuple[gallery.Entry, jobs.Job, dict]:
        """The entry, its job and what that told."""
        entry = gallery.read(gallery.FOLDER / f"{self.arguments[0]}.py")
        job = jobs.Job("gallery", (entry.name,), entry.code)
        return entry, job, self.found(job)


class Shown(_OfEntry):
    """Its pictures."""

    def run(self) -> list[nodes.Node]:
        """Every figure."""
        entry, job, told = self.entry()
        return self.pictures(job, told, entry.title)


class Thumbnail(_OfEntry):
    """Its first picture, small."""

    def run(self) -> list[nodes.Node]:
        """One figure."""
        entry, job, told = self.entry()
        return self.pictures(job, told, entry.title)[:1]


class Printed(_OfEntry):
    """What it prints."""

    def run(self) -> list[nodes.Node]:
        """A block, where it prints something."""
        _, _, told = self.entry()
        text = told.get("printed", "").rstrip()
        if not text:
            return []
        return [nodes.paragraph(text="It prints"), nodes.literal_block(text, text, language="text")]


class Equations(SphinxDirective):
    """Equations, set as MathML."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """A block that scrolls where it is wider than the page."""
        text = "\n".join(self.content)
        found = mathml(text)
        if found is None:
            tell.warning("no equations: %s", text, location=self.get_location())
            return [nodes.literal_block(text, text, language="text")]
        return [nodes.raw("", f'<div class="equations-block">{found}</div>', format="html")]


def write_pages(app) -> None:
    """Write the reference, then run what its pages and those by hand show."""
    source = Path(app.srcdir)
    pages.write(source / pages.INTO)
    sources = [path for path in source.rglob("*.md") if "_build" not in path.parts]
    jobs.run(jobs.asked(sources), lambda text: tell.info(text))


def outdated(app, env, added, changed, removed) -> list[str]:
    """Pages that show what was run are read again: the results may be others."""
    return [
        name
        for name in env.found_docs - added - changed
        if re.search(
            r"\{(verdict|drawn|shown|thumbnail|printed|include)\}",
            Path(env.doc2path(name)).read_text("utf-8"),
        )
    ]


def lead(app, docname: str, content: list[str]) -> None:
    """Links to files at the repository's top lead to their pages."""
    if not docname.startswith(pages.INTO):
        content[0] = on_site(content[0], docname.count("/"))


def setup(app) -> dict:
    """Directives and hooks."""
    for name, cls in (
        ("verdict", VerdictOf),
        ("drawn", Drawn),
        ("shown", Shown),
        ("thumbnail", Thumbnail),
        ("printed", Printed),
        ("equations", Equations),
    ):
        app.add_directive(name, cls)
    app.connect("builder-inited", write_pages)
    app.connect("env-get-outdated", outdated)
    app.connect("source-read", lead)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
