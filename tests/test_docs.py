"""Every code block and every printed command of every page does what the page says: `docs.building.blocks`."""

import pytest

from docs.building import gallery
from docs.building.blocks import DOCS, Block, Folder, blocks, pages
from docs.building.runner import figures_left

QUICK = {
    "help/faq.md",
    "interop.md",
}  # pages that take a moment; the others are followed by -m long
NAMES = {path: path.relative_to(DOCS).as_posix() for path in pages()}


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(path, id=name, marks=() if name in QUICK else pytest.mark.long)
        for path, name in NAMES.items()
    ],
)
def test_a_page_is_followed_as_printed(page, tmp_path):
    Folder(page, tmp_path).follow()


@pytest.mark.quick
def test_blocks_are_found_and_a_wrong_one_is_told(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "# T\n\n```{literalinclude} b.yaml\n```\n\n```yaml\n# a.yaml\nplant: minimal-crane\n```\n\n```text\nx\n```\n",
        "utf-8",
    )
    assert [*blocks(page.read_text("utf-8"))] == [
        Block("yaml", "# a.yaml\nplant: minimal-crane\n", 7)
    ]
    (tmp_path / "at").mkdir()
    with pytest.raises(AssertionError, match="line 7: .*minimal-crane"):
        Folder(page, tmp_path / "at").follow()
    page.write_text(
        "```console\n$ workbench explain controller.λ\n$ workbench explain λλ  # exit 3\n```\n",
        "utf-8",
    )
    (tmp_path / "there").mkdir()
    Folder(page, tmp_path / "there").follow()
    page.write_text("```console\n$ workbench explain λλ\n```\n", "utf-8")
    (tmp_path / "wrong").mkdir()
    with pytest.raises(AssertionError, match="exit 3"):
        Folder(page, tmp_path / "wrong").follow()


def test_entries_of_the_gallery_are_short_and_told():
    found = gallery.entries()
    assert len(found) >= 24
    for entry in found:
        assert len(entry.code.splitlines()) <= 40, entry.name
        assert entry.words and entry.group in gallery.GROUPS, entry.name


TENTH = {"look-friction", "design-feed", "run-noise"}  # in the gate; the others by -m long


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(entry.name, marks=() if entry.name in TENTH else pytest.mark.long)
        for entry in gallery.entries()
    ],
)
def test_an_entry_runs_and_draws(name, capsys):
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    entry = gallery.read(gallery.FOLDER / f"{name}.py")
    with plt.rc_context():
        names = {"__name__": "__main__"}
        exec(compile(entry.code, f"{name}.py", "exec"), names)
        drawn = figures_left(names)
        plt.close("all")
    assert drawn and all(fig.axes for fig in drawn)
