"""What every checker does alike, as a suite of tests.

::

    class TestMyChecker(CheckerConformance):
        @pytest.fixture
        async def checker(self):
            yield my_package.open_checker(CheckerSettings(...))
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tadasu.core.usage import Outcome, Stage
from tadasu.ports import Claim, SupportModel
from tadasu.testing.conformance.pairs import ODD_TEXTS, Book

CLAIMS: dict[str, tuple[Claim, Claim]] = {
    "en": (
        Claim(
            "The mill was built by Anna Lind in 1884.",
            "Anna Lind built the mill in 1884 and Carl Berg sold it in 1901.",
            "Who built the mill?",
        ),
        Claim(
            "The mill was built by Carl Berg in 1901.",
            "Anna Lind built the mill in 1884 and Carl Berg sold it in 1901.",
            "Who built the mill?",
        ),
    ),
    "ja": (
        Claim(
            "田中一郎は1884年に水車小屋を建てました。",
            "水車小屋は1884年に田中一郎が建て、1901年に佐藤花子が売却した。",
            "水車小屋を建てたのは誰ですか。",
        ),
        Claim(
            "佐藤花子は1901年に水車小屋を建てました。",
            "水車小屋は1884年に田中一郎が建て、1901年に佐藤花子が売却した。",
            "水車小屋を建てたのは誰ですか。",
        ),
    ),
}
"""A claim that its source supports, and one that it does not, by language."""

in_each_language = pytest.mark.parametrize("language", list(CLAIMS))


class CheckerConformance:
    """Subclass it, name the class ``Test…``, and give it the fixture `checker`.

    `tolerance` is how far a probability may move with what else is in its batch. A model of one language names it in
    `languages`.
    """

    tolerance: float = 1e-6
    languages: Sequence[str] = ("en", "ja")

    @pytest.fixture
    def checker(self) -> SupportModel:
        """Override this."""
        raise NotImplementedError("give the suite a fixture checker")

    async def test_it_says_who_it_is(self, checker: SupportModel) -> None:
        before = checker.id
        assert before.strip() == before != ""
        await _read(checker, CLAIMS["en"])
        assert checker.id == before

    @in_each_language
    async def test_what_the_source_says_is_likelier_than_what_it_does_not(
        self, checker: SupportModel, language: str
    ) -> None:
        if language not in self.languages:
            pytest.skip("not a language of this checker")
        right, wrong = await _read(checker, CLAIMS[language])
        assert right > wrong + self.tolerance

    @in_each_language
    async def test_a_probability_does_not_depend_on_place_or_neighbours(
        self, checker: SupportModel, language: str
    ) -> None:
        right, wrong = CLAIMS[language]
        together = await _read(checker, [right, wrong])
        turned = await _read(checker, [wrong, right, wrong])
        alone = [(await _read(checker, [one]))[0] for one in (right, wrong)]
        assert turned == pytest.approx([together[1], together[0], together[1]], abs=self.tolerance)
        assert alone == pytest.approx(together, abs=self.tolerance)

    async def test_nothing_asked_is_nothing_said(self, checker: SupportModel) -> None:
        assert list(await checker.support([], ledger=Book())) == []

    @pytest.mark.parametrize("blank", ["", " ", "\n\n"])
    async def test_a_blank_sentence_or_source_is_not_supported(self, checker: SupportModel, blank: str) -> None:
        right = CLAIMS["en"][0]
        claims = [Claim(blank, right.source), right, Claim(right.sentence, blank)]
        found = await _read(checker, claims)
        assert (found[0], found[2]) == (0.0, 0.0)
        assert found[1] == pytest.approx((await _read(checker, [right]))[0], abs=self.tolerance)

    @pytest.mark.parametrize("name", ODD_TEXTS)
    async def test_an_odd_text_harms_no_other(self, checker: SupportModel, name: str) -> None:
        right = CLAIMS["en"][0]
        (usual,) = await _read(checker, [right])
        beside = await _read(checker, [Claim(right.sentence, ODD_TEXTS[name]), right])
        assert beside[1] == pytest.approx(usual, abs=self.tolerance)

    @in_each_language
    async def test_a_long_source_is_read_to_its_end(self, checker: SupportModel, language: str) -> None:
        if language not in self.languages:
            pytest.skip("not a language of this checker")
        right, _ = CLAIMS[language]
        filler = {"en": "It rained for most of the day. ", "ja": "その日はほとんど雨だった。"}[language] * 60
        found = await _read(checker, [Claim(right.sentence, filler + right.source, right.question)])
        without = await _read(checker, [Claim(right.sentence, filler, right.question)])
        assert found[0] > without[0] + self.tolerance

    async def test_what_it_did_is_in_the_ledger_as_checking(self, checker: SupportModel) -> None:
        book = Book()
        await checker.support(CLAIMS["en"], ledger=book)
        assert book.calls
        assert {(call.stage, call.outcome) for call in book.calls} == {(Stage.CHECK, Outcome.OK)}


async def _read(checker: SupportModel, claims: Sequence[Claim]) -> list[float]:
    found = [float(one) for one in await checker.support(claims, ledger=Book())]
    assert len(found) == len(claims)
    assert all(0.0 <= one <= 1.0 for one in found)
    return found
