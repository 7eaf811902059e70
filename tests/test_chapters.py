"""A chapter of the report is one object in one list: adding one touches its own file, its page, and that list."""

import shutil
from io import BytesIO
from pathlib import Path

import pytest

from reports import Content, chapters, document, rendered
from reports.chapters.chapter import Chapter
from workbench.contract.errors import InputError

pypdf = pytest.importorskip("pypdf")
FOLDER = Path(chapters.__file__).parent


class Toy(Chapter):
    """A chapter of the tests."""

    name = "toy"
    analysis = {"toy": "a number"}

    def rows(self, content, drawn):
        return {"toy": str(content.analysis.get("toy", ""))}


def said(content):
    """All text of the report."""
    return "\n".join(
        page.extract_text() for page in pypdf.PdfReader(BytesIO(rendered(content))).pages
    )


def test_the_list_has_every_file_once_and_every_page_is_of_a_chapter():
    names = [chapter.name for chapter in chapters.CHAPTERS]
    files = {path.stem for path in FOLDER.glob("*.py")} - {"__init__", "chapter"}
    assert len(names) == len(set(names)) and set(names) == files
    assert {path.stem for path in FOLDER.glob("*.typ")} <= files


def test_an_array_belongs_to_one_chapter():
    owned = [n for chapter in chapters.CHAPTERS for n in (*chapter.analysis, *chapter.printed)]
    assert len(owned) == len(set(owned)) == len(chapters.analyses())


def test_a_new_chapter_is_a_file_a_page_and_a_line(tmp_path, monkeypatch):
    content = {"analysis": {"toy": 271.828}}
    with pytest.raises(InputError, match="no analysis called 'toy'"):
        Content("A case", "Does it?", **content)
    shutil.copytree(FOLDER, tmp_path / "chapters", ignore=shutil.ignore_patterns("*.py*", "__*"))
    (tmp_path / "chapters" / "toy.typ").write_text("#let page(d) = [= A toy chapter\n #d.toy]")
    monkeypatch.setattr(document, "CHAPTERS_AT", tmp_path / "chapters")
    assert "A toy chapter" not in said(Content("A case", "Does it?"))
    monkeypatch.setattr(chapters, "CHAPTERS", (*chapters.CHAPTERS, Toy()))
    text = said(Content("A case", "Does it?", **content))
    assert "A toy chapter" in text and "271.828" in text
