"""The model card of the first grading tier, from the figures of the run that made it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from tadasu.answering.grading.features import FeatureGrader
from training.feature_evaluation import Report, grade, reliability
from training.feature_rows import Asking
from training.feature_sets import QuestionSet

_INTRODUCTION = """# First grading tier: signals, logistic regression, calibration

Says how likely it is that a passage holds the answer to a question, from signals that cost no model call. English and
Japanese. Made by `python -m training.train_features` (no random numbers; the data under `$TADASU_DATA`, the encoder in
`models/encoder`, the fusion weights in `models/fusion.json`); runs in plain numpy.

- `features.json`: weights, calibration curves and thresholds, per language and view (set of known signals).
- `fitted_on.txt`: the first 64 bits of the SHA-256 of every passage it was fitted or calibrated on, distractors too.

## Fitted on

TRAIN splits (weights) and CALIBRATE splits (curves, thresholds) as `tadasu.testing.splits` decides them by article.
Questions are asked of a real index through hybrid search: what it brings back, without the answer, are the hard
negatives. Three of ten are asked again with the whole article taken out, one of five with the passages that hold the
answer, so that "nothing here answers this" is learnt; for three of ten only 3 or 5 candidates are taken. Half of the
questions are asked once more with a name, number, attribute or the first part of a compound replaced by one of another
article (`training/feature_swaps.py`), so that the neighbour of what is asked for is not taken for it. These are fitted
on, but curves and borders are made without them.
Sets: JaQuAD (CC BY-SA 3.0), XQuAD en (CC BY-SA 4.0), PopQA (MIT), COVID-QA (Apache-2.0), Wikipedia paragraphs of
HippoRAG (MIT, distractors only). No text of theirs is in the weights or in the list of fingerprints.
"""

_MEASURED = """
## Held back

TEST splits: no passage of these was fitted on (a test holds that). English sets are searched among wiki_en paragraphs
of the TEST split. *cosine* is the AUC of the cosine alone, on the same pairs: hybrid search brings back what is near,
so the pairs are biased against it. *ECE*: ten bins of equal mass. *HIGH right*: share of HIGH passages that hold the
answer. *missed*: share of passages that hold it and are LOW. Verdicts (`any_high`) by question: *there*, the answer was
in the index; *gone*, its article or passages had been taken out; *swapped*, the question was given another name, number
or attribute (for half of the questions; their pairs count in no other column).
"""


def write_card(
    path: Path,
    *,
    grader: FeatureGrader,
    sources: Mapping[str, tuple[QuestionSet, Sequence[Asking]]],
    reports: Mapping[str, tuple[Report, Sequence[Asking]]],
    encoder: str,
) -> None:
    """Write the card in Markdown."""
    lines = [_INTRODUCTION, f"Encoder: `{encoder}`. Grader id: `{grader.id}`.", ""]
    lines += ["| split | passages | questions | retrievals | pairs | with the answer |", "|---|--:|--:|--:|--:|--:|"]
    for name, (questions, askings) in sources.items():
        labels = np.concatenate([asking.labels for asking in askings])
        counts = (len(questions.rows), len(questions.asked), len(askings), int((labels >= 0).sum()))
        lines.append(f"| {name} | {' | '.join(f'{count:,}' for count in counts)} | {int((labels == 1).sum()):,} |")
    lines += ["", "Thresholds, from the CALIBRATE split: `high` is the lowest border at or above which 90 of 100"]
    lines += ["passages hold the answer; `low` the highest below which at most 8 of 100 passages that"]
    lines += ["hold it fall, and at most 5 of 1,000 questions whose answer is in the index have nothing else.", ""]
    lines += ["| language | high | low |", "|---|--:|--:|"]
    lines += [
        f"| {one} | {grader.thresholds(one).high:.2f} | {grader.thresholds(one).low:.2f} |" for one in ("ja", "en")
    ]
    lines += [_MEASURED, *_passages([found for found, _ in reports.values()]), ""]
    lines += [
        "Strips of passages that hold the answer: AUC and ECE of the strip scores; how often the best strip holds the"
    ]
    lines += ["answer; how often it is among the strips kept at 0.5 with the best one and the neighbours of these.", ""]
    lines += _strips([found for found, _ in reports.values()])
    lines += [
        "",
        "## Reliability",
        "",
        "Pairs in ten bins of equal mass: mean probability → share with the answer.",
        "",
    ]
    lines += ["| set | bins |", "|---|---|"]
    lines += [f"| {name} | {_bins(grader, askings)} |" for name, (_, askings) in reports.items()]
    lines += _LIMITS
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


_LIMITS = [
    "",
    "## Limits",
    "",
    "- The figures of the TEST splits were looked at while signals, the precision asked of `high`, the limit of `low`",
    "  and the rules after the model were chosen: nothing was fitted on them, but they flatter. A fresh set will be",
    "  lower.",
    "- Questions of these sets were written by people who saw the passage and share its words more than users' do;",
    "  on-topic passages without the answer are graded too high. The second tier is for those.",
    "- Probabilities hold for the mixture above (an answer is in the index for about two of three questions).",
    "- A passage in another language than the question's is judged by vectors, names and numbers, compared with the",
    "  others of its language alone, with weights fitted within one language. It is HIGH only where the question",
    "  has codes, names or numbers that any language writes alike and the passage holds all of them. Such grades",
    "  are marked as not calibrated, as are questions in other languages than English and Japanese. There is no",
    "  public set for this: of 30 questions of our own on the demo documents",
    "  (`tests/answering/grading/cross_language.jsonl`), search brings back the right passage for 13; 9 of",
    "  these are MEDIUM or HIGH, 3 before passages were compared by language.",
    "- Two rules come after the model (`grading/rivals.py`). Where the rarest word of the question is part of a",
    "  name, or a number, that the passage lacks, 0.75 of the probability is kept, but it falls no lower than",
    "  the border to LOW. The share was chosen among 0.6 to 0.85 for what it costs on the CALIBRATE splits: .009",
    "  of *there: CORRECT* in Japanese and .006 in English, for .012 and .007 of *swapped: CORRECT*. The figures",
    "  above include this rule. Where the question holds a model code and the passage none of its codes, 0.2 is",
    "  kept if another candidate has it and 0.5 if none has; set by hand, since the sets hold no such codes, and",
    "  in no figure above.",
    "- A common word in place of another (sick leave that is paid, a van that is diesel) is hardly told from a",
    "  paraphrase; *swapped* falls for names and numbers above all.",
    "- Where all cosines of a retrieval lie within 0.06, they are not used as they are: only their order and leads.",
]


def _passages(reports: Sequence[Report]) -> list[str]:
    lines = [
        "| set | retrievals | pairs | with the answer | AUC | cosine | ECE | HIGH right | missed"
        " | there: CORRECT | there: INCORRECT | gone: CORRECT | gone: INCORRECT"
        " | swapped: CORRECT | swapped: INCORRECT |",
        "|---|" + "--:|" * 14,
    ]
    for one in reports:
        shares = (
            one.auc, one.cosine_auc, one.ece, one.precision_high, one.missed,
            one.present_correct, one.present_incorrect, one.absent_correct, one.absent_incorrect,
            one.swapped_correct, one.swapped_incorrect,
        )  # fmt: skip
        counts = f"{one.questions:,} | {one.pairs:,} | {one.positives:,}"
        lines.append(f"| {one.name} | {counts} | {' | '.join(f'{share:.3f}' for share in shares)} |")
    return lines


def _strips(reports: Sequence[Report]) -> list[str]:
    lines = ["| set | AUC | ECE | best strip holds it | kept strips hold it |", "|---|--:|--:|--:|--:|"]
    for one in reports:
        shares = (one.strip_auc, one.strip_ece, one.strip_best, one.strip_kept)
        lines.append(f"| {one.name} | {' | '.join(f'{share:.3f}' for share in shares)} |")
    return lines


def _bins(grader: FeatureGrader, askings: Sequence[Asking]) -> str:
    askings = [asking for asking in askings if not asking.swapped]
    labels = np.concatenate([asking.labels for asking in askings])
    probabilities = grade(grader, askings).probabilities
    used = (labels >= 0) & ~np.isnan(probabilities)
    table = reliability(probabilities[used], labels[used])
    return ", ".join(f"{mean:.3f} → {share:.3f}" for _, mean, share in table)
