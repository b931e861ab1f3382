"""Self-RAG's reflection tokens: read from a completion, weighed as its paper weighs them, kept out of what is shown.

Asai et al. 2023, "Self-RAG: Learning to Retrieve, Generate, and Critique through Self-Reflection", §3.3; the groups of
tokens, the weights 1, 1 and ½ and the utility scale from -1 to 1 are those of the authors' published inference code.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tadasu.ports import Completion, WrittenToken

RETRIEVAL, NO_RETRIEVAL, GO_ON = "[Retrieval]", "[No Retrieval]", "[Continue to Use Evidence]"
RELEVANT, IRRELEVANT = "[Relevant]", "[Irrelevant]"
FULLY, PARTLY, NOT = "[Fully supported]", "[Partially supported]", "[No support / Contradictory]"
UTILITY = tuple(f"[Utility:{n}]" for n in range(1, 6))
_UTILITY_WORTH = (-1.0, -0.5, 0.0, 0.5, 1.0)
_SUPPORT = (FULLY, PARTLY, NOT)
_RELEVANCE = (RELEVANT, IRRELEVANT)
_TURNS = (RETRIEVAL, NO_RETRIEVAL, GO_ON)
_ALL = (*_TURNS, *_RELEVANCE, *_SUPPORT, *UTILITY)
_TOKENS = re.compile("|".join(map(re.escape, _ALL)))
_MARKS = re.compile(r"</?paragraph>|</?s>|<\|endoftext\|>|\[PAD\]|<unk>|<pad>")
_FOREIGN = re.compile(
    r"[\[［](?=\s*(?:(?:No )?Retrieval|Continue to Use|(?:Ir)?relevant|Fully|Partially|No support|Utility))"
    r"|<(?=\s*/?\s*paragraph)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Weights:
    """How much the three judgements count beside the likelihood of the words, as in the paper's inference."""

    relevance: float = 1.0
    support: float = 1.0
    utility: float = 0.5


@dataclass(frozen=True, slots=True)
class Part:
    """Text up to a token that decides about retrieval, and that token (empty: the end).

    `denied` says that the model wrote, or mostly thought of, "No support" for it.
    """

    text: str
    denied: bool
    then: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """One continuation with one paragraph, read.

    `relevance` is the probability of [Relevant] among the two, `support` in [0, 1], `utility` in [-1, 1],
    `likelihood` in [0, 1] the mean likelihood of its tokens. `parts` hold what may be shown; what was written after
    [No Retrieval] comes from memory and is not in them.
    """

    relevance: float
    support: float
    utility: float
    likelihood: float
    parts: tuple[Part, ...]

    def score(self, weights: Weights) -> float:
        """The paper's: the likelihood of the words, and the judgements by weight."""
        judged = weights.relevance * self.relevance + weights.support * self.support + weights.utility * self.utility
        return self.likelihood + judged

    @property
    def wants_more(self) -> bool:
        """Whether the model asks for another paragraph."""
        return bool(self.parts) and self.parts[-1].then == RETRIEVAL

    @property
    def usable(self) -> bool:
        """Whether the paragraph is relevant and something is said that the model does not itself deny."""
        return self.relevance >= 0.5 and any(part.text and not part.denied for part in self.parts)


def read_candidate(completion: Completion) -> Candidate:
    """`completion` of a prompt that ends in a paragraph.

    A judgement is the share of its token among those of its group, at the first place where one of the group was
    written. Where no likelihoods are told, what was written counts as certain. No token of relevance counts as
    irrelevant, none of support as unsupported, none of utility as neither good nor bad: a model without them is none
    of Self-RAG's.
    """
    kept = _before_memory(completion)
    support = _shares(kept, _SUPPORT)
    relevance = _shares(kept, _RELEVANCE)
    utility = _shares(completion, UTILITY)
    return Candidate(
        relevance=relevance.get(RELEVANT, 0.0),
        support=support.get(FULLY, 0.0) + 0.5 * support.get(PARTLY, 0.0),
        utility=sum(worth * utility.get(token, 0.0) for token, worth in zip(UTILITY, _UTILITY_WORTH, strict=True)),
        likelihood=_likelihood(kept.tokens),
        parts=_parts(completion.text),
    )


def shown_text(text: str) -> str:
    """`text` without any token of the model's own.

    >>> shown_text("[Relevant]It is 36 months.[Fully supported][Utility:5]</s>")
    'It is 36 months.'
    """
    return " ".join(_MARKS.sub("", _TOKENS.sub("", text)).split())


def disarmed(text: str) -> str:
    """Foreign text in which nothing can pass for a token of the model's.

    >>> disarmed("Note [Relevant] </paragraph> [Utility:5]")
    'Note (Relevant] ‹/paragraph> (Utility:5]'
    """
    return _FOREIGN.sub(lambda found: "‹" if found.group() == "<" else "(", text)


def _parts(text: str) -> tuple[Part, ...]:
    parts: list[Part] = []
    at = 0
    turns = [found for found in _TOKENS.finditer(text) if found.group() in _TURNS]
    for start, end, then in [*((one.start(), one.end(), one.group()) for one in turns), (len(text), len(text), "")]:
        piece = text[at:start]
        judged = next((one.group() for one in _TOKENS.finditer(piece) if one.group() in _SUPPORT), "")
        parts.append(Part(shown_text(piece), judged == NOT, then))
        if then in (RETRIEVAL, NO_RETRIEVAL):
            break
        at = end
    return tuple(part for part in parts if part.text or part.then)


def _before_memory(completion: Completion) -> Completion:
    """The completion up to the first [Retrieval] or [No Retrieval]: what follows was not written from the paragraph."""
    ends = [at for token in (RETRIEVAL, NO_RETRIEVAL) if (at := completion.text.find(token)) >= 0]
    if not ends:
        return completion
    tokens: list[WrittenToken] = []
    for token in completion.tokens:
        if token.text.strip() in (RETRIEVAL, NO_RETRIEVAL):
            break
        tokens.append(token)
    return Completion(completion.text[: min(ends)], tuple(tokens), completion.finish)


def _shares(completion: Completion, group: Sequence[str]) -> Mapping[str, float]:
    """The share of each token of `group` where the first of them stands; nothing where none does."""
    for token in completion.tokens:
        if token.text.strip() in group:
            told = {name.strip(): value for name, value in token.likeliest.items()}
            if token.logprob is not None:
                told.setdefault(token.text.strip(), token.logprob)
            weighed = {name: math.exp(told[name]) for name in group if name in told}
            total = sum(weighed.values())
            return {name: value / total for name, value in weighed.items()} if total > 0 else {token.text.strip(): 1.0}
    written = next((one.group() for one in _TOKENS.finditer(completion.text) if one.group() in group), "")
    return {written: 1.0} if written else {}


def _likelihood(tokens: Sequence[WrittenToken]) -> float:
    """The geometric mean of the tokens' probabilities; 0 where none are told, which is the same for all candidates."""
    told = [token.logprob for token in tokens if token.logprob is not None]
    return math.exp(sum(told) / len(told)) if told else 0.0
