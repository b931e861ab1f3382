from __future__ import annotations

import inspect
import re

import pytest

from tadasu import errors
from tadasu.errors import TadasuError


def tree() -> list[type[TadasuError]]:
    found = [TadasuError]
    for each in found:
        found.extend(each.__subclasses__())
    return [each for each in found if each.__module__ == "tadasu.errors"]


def test_the_docstring_draws_the_whole_tree_with_its_codes() -> None:
    drawn = errors.__doc__ or ""
    for each in tree():
        assert re.search(rf"\b{each.__name__}\b", drawn), each
        if not each.__subclasses__() and each is not TadasuError:
            assert re.search(rf"\b{each.__name__} +{each.code}\b", drawn), each


def test_codes_are_unique_among_errors_that_are_raised() -> None:
    codes = [each.code for each in tree() if not each.__subclasses__()]
    assert len(codes) == len(set(codes))


@pytest.mark.parametrize("each", [e for e in tree() if not e.__subclasses__()], ids=lambda e: e.__name__)
def test_message_and_hint_are_filled_and_braces_in_details_are_harmless(each: type[TadasuError]) -> None:
    names = set(re.findall(r"\{(\w+)\}", each.message + each.hint_template))
    if "__init__" in vars(each):
        names |= set(inspect.signature(each.__init__).parameters) - {"self"}
    error = each(**dict.fromkeys(names, "{x} %s {{y}}"))
    left = re.findall(r"\{(\w+)\}", (str(error) + error.hint).replace("{{y}}", "").replace("{x}", ""))
    assert left == []
