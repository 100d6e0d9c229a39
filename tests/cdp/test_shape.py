"""A cell is what the protocol says it is, or it is refused without being quoted."""

from __future__ import annotations

import pytest

from nlm_cdp.cdp.shape import OpenEnum, as_bool, as_dict, as_float, as_int, as_list, as_str

CELLS = {
    "null": None,
    "true": True,
    "integer": 3,
    "large": 10**400,
    "number": 2.5,
    "string": "secret",
    "array": ["secret"],
    "object": {"secret": 1},
}
READ = {
    as_str: {"string"},
    as_bool: {"true"},
    as_int: {"integer", "large"},
    as_float: {"integer", "large", "number"},
    as_list: {"array"},
    as_dict: {"object"},
}


@pytest.mark.parametrize("read", READ)
@pytest.mark.parametrize("cell", CELLS)
def test_a_cell_is_read_as_it_is_or_refused(read, cell: str) -> None:
    value = CELLS[cell]
    if cell in READ[read]:
        assert read(value) is value
    else:
        with pytest.raises(TypeError, match=r"expected, not ") as caught:
            read(value)
        assert "secret" not in str(caught.value)


def test_an_unlisted_word_is_a_member_of_its_own() -> None:
    class Colour(OpenEnum):
        RED = "red"

    assert Colour("red") is Colour.RED
    for blue in (Colour("blue"), Colour.from_json("blue")):
        assert (blue, blue.value, blue.name, str(blue), blue.to_json()) == ("blue",) * 5
        assert blue == Colour("blue")
        assert hash(blue) == hash("blue")
    assert list(Colour) == [Colour.RED]
    with pytest.raises(ValueError, match="is not a valid"):
        Colour(3)  # type: ignore[arg-type]
