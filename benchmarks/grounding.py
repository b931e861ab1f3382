"""The check of answers against their sources: what it lets through and what it finds.

Run: python -m benchmarks.grounding [--json FILE]

1. Figures: sentences of public passages with one digit changed must be refused; the same sentences in full-width digits
   and bold, or introduced by "according to the document", must pass. What is missed is mostly a digit changed into a
   figure that the same sentence holds elsewhere.
2. HaluEval (English): right and hallucinated answers against the knowledge they were made from.
3. JNLI (Japanese): entailed, neutral and contradicting captions. Captions are rewritten freely and a contradiction is
   often one colour for another, which rules cannot see: the limits of the check, not its use.

Only rows of the TEST split are measured; the shares of words that the check asks for are round numbers.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from benchmarks.harness import Figures, arguments, machine, report, skip, table
from tadasu.answering.generation.grounding import check
from tadasu.core.documents import Span, Strip
from tadasu.testing.datasets import DataAbsent, Part, item_key, passages, rows
from tadasu.testing.splits import Split, split_of
from tadasu.text.segment import segment

SENTENCES = 1000
_WIDE = str.maketrans("0123456789", "０１２３４５６７８９")


def strip(text: str) -> Strip:
    """A strip of a document that has nothing else."""
    return Strip("p.0", "p", "d", "s", "", text, Span(0, len(text)), 0)


def sentences_with_digits(part: Part) -> Iterator[str]:
    """Sentences of at most 200 characters that hold a digit."""
    for row in passages(part):
        if split_of(part, row.key) is not Split.TEST:
            continue
        text = row.text.partition(" [SEP] ")[2] or row.text
        for start, end in segment(text):
            sentence = text[start:end].strip()
            if len(sentence) <= 200 and re.search(r"\d", sentence):
                yield sentence


def digits(part: Part, introduction: str) -> list[object]:
    """Shares of changed sentences refused, and of dressed and introduced ones accepted."""
    chance = random.Random(2)
    found = refused = dressed = introduced = 0
    for sentence in sentences_with_digits(part):
        at = chance.choice([match.start() for match in re.finditer(r"\d", sentence)])
        changed = sentence[:at] + str((int(sentence[at]) + chance.randint(1, 9)) % 10) + sentence[at + 1 :]
        source = [strip(sentence)]
        found += 1
        refused += not check(changed, source).holds
        dressed += check(f"**{sentence.translate(_WIDE)}**", source).holds
        introduced += check(introduction + sentence[:1].lower() + sentence[1:], source).holds
        if found == SENTENCES:
            break
    return [part.value, found, refused / found, dressed / found, introduced / found]


def halueval() -> list[list[object]]:
    """Share of right and of hallucinated answers that pass."""
    passed: dict[str, list[bool]] = {"right_answer": [], "hallucinated_answer": []}
    for row in rows(Part.HALUEVAL_QA):
        if split_of(Part.HALUEVAL_QA, item_key(Part.HALUEVAL_QA, row)) is Split.TEST:
            for kind, verdicts in passed.items():
                verdicts.append(check(row[kind], [strip(row["knowledge"])], question=row["question"]).holds)
    return [["halueval_qa", kind, len(verdicts), sum(verdicts) / len(verdicts)] for kind, verdicts in passed.items()]


def jnli() -> list[list[object]]:
    """Share of entailed, neutral and contradicting sentences that pass."""
    passed: dict[str, list[bool]] = {"entailment": [], "neutral": [], "contradiction": []}
    for row in rows(Part.JNLI_VALID):
        if split_of(Part.JNLI_VALID, item_key(Part.JNLI_VALID, row)) is Split.TEST:
            passed[row["label"]].append(check(row["sentence2"], [strip(row["sentence1"])]).holds)
    return [["jnli", kind, len(verdicts), sum(verdicts) / len(verdicts)] for kind, verdicts in passed.items()]


def main() -> None:
    """Measure and print."""
    options = arguments(__doc__ or "")
    try:
        figures = [
            digits(Part.JSQUAD_VALID, "文書によると、"),
            digits(Part.JAQUAD_DEV, "文書によると、"),
            digits(Part.WIKI_EN, "According to the document, "),
        ]
        answers = [*halueval(), *jnli()]
    except DataAbsent as absent:
        skip(str(absent))
    print(machine())
    print(
        table(["sentences of", "n", "one digit changed: refused", "dressed: accepted", "introduced: accepted"], figures)
    )
    print()
    print(table(["set", "kind", "n", "accepted"], answers))
    result: Figures = {"digits": figures, "answers": answers}
    report(result, to=options.json)


if __name__ == "__main__":
    main()
