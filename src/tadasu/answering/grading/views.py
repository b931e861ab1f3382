"""Names of the signals, and the views: which of them are known together. `signals` measures, `model` weighs them."""

from __future__ import annotations

NAMES = ("names", "numbers")
LACKING = ("lacks", "lacks_beside", "lacks_name", "names_lacking", "runs_absent", "runs_lacking")
WORDS = ("cover", "strip_cover", "rarest", "pairs", "strip_pairs", "kind", "title", "cover_lead", *LACKING)
KEYWORDS = ("bm25", "bm25_share", "bm25_rank")
COSINE = ("cosine",)
RANKS = ("cosine_lead", "cosine_place", "cosine_rank")
STRIPS = ("strip_cosine", "strip_cosine_lead")
ALWAYS = ("length", "order", "others")
PASSAGE_SIGNALS = NAMES + WORDS + KEYWORDS + COSINE + RANKS + STRIPS + ALWAYS

STRIP_NAMES = ("names", "numbers")
STRIP_WORDS = ("cover", "cover_gap", "pairs", "pairs_gap", "kind", "neighbour_cover")
STRIP_VECTORS = ("cosine", "cosine_gap", "cosine_over_passage")
STRIP_ALWAYS = ("length", "first")
STRIP_SIGNALS = STRIP_NAMES + STRIP_WORDS + STRIP_VECTORS + STRIP_ALWAYS

PASSAGE_COLUMN = {name: column for column, name in enumerate(PASSAGE_SIGNALS)}
STRIP_COLUMN = {name: column for column, name in enumerate(STRIP_SIGNALS)}

_TEXT_PARTS = {"names": NAMES, "words": NAMES + WORDS, "words+keywords": NAMES + WORDS + KEYWORDS}
_VECTOR_PARTS = {
    "": (),
    "cosine": COSINE + RANKS,
    "ranks": RANKS,
    "cosine+strips": COSINE + RANKS + STRIPS,
    "ranks+strips": RANKS + STRIPS,
}
PASSAGE_VIEWS = {
    "+".join(filter(None, (text, vectors))): _TEXT_PARTS[text] + _VECTOR_PARTS[vectors] + ALWAYS
    for text in _TEXT_PARTS
    for vectors in _VECTOR_PARTS
    if text != "names" or vectors
}
"""Which signals are known of a passage, by name of the view: "words+ranks" has no keyword score and flat cosines.

"names" is a passage in another language than the question's: its words cannot be compared, but a model code or a year
is written alike. Names alone, without vectors, are too little to say anything.
"""

STRIP_VIEWS = {
    "words+cosine": STRIP_NAMES + STRIP_WORDS + STRIP_VECTORS + STRIP_ALWAYS,
    "words": STRIP_NAMES + STRIP_WORDS + STRIP_ALWAYS,
    "cosine": STRIP_NAMES + STRIP_VECTORS + STRIP_ALWAYS,
}
