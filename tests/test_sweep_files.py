"""A sweep that goes on takes no case from a journal whose machine's file, or a file that one names, has changed meanwhile."""

import pytest

from workbench.cases.yaml_input import parse
from workbench.sweep import places
from workbench.sweep.cases import LAYOUT

FILES = {
    "case.yaml": "plant: mine.yaml\n",
    "mine.yaml": "plant: {machine: base.yaml, change: {payload.mass: 20 kg}}\n",
    "base.yaml": "plant: {machine: hiab-xs031, change: {payload.mass: 10 kg}}\n",
}


@pytest.fixture
def content(tmp_path):
    """Writes these files; what a case depends on."""

    def made(**changed):
        places._hash.cache_clear()
        for name, text in FILES.items():
            (tmp_path / name).write_text(changed.get(name.removesuffix(".yaml"), text), "utf-8")
        path = tmp_path / "case.yaml"
        file = places.Varied(parse(path.read_text("utf-8"), str(path)), str(path), LAYOUT)
        return file.content({})

    yield made
    places._hash.cache_clear()


@pytest.mark.parametrize("name", ["mine", "base"])
def test_a_file_that_a_machine_s_file_names_is_part_of_the_case(content, name):
    first = content()
    assert content() == first
    assert content(**{name: FILES[f"{name}.yaml"].replace("kg", "g")}) != first


def test_files_that_name_each_other_and_one_that_is_no_tree_come_to_an_end(content):
    circle = content(base="plant: mine.yaml\n")
    assert circle != content() and content(base="plant: [mine.yaml\n") != circle
