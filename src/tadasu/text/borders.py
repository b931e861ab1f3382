"""Where sentences end in a stretch of prose, whatever language or mixture it is in.

The script around a mark decides, not a language setting: an ideographic full stop always ends a sentence, an ASCII one
must earn it. Brackets and quotes hold their sentences together unless they hold a whole passage.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tadasu.text.abbreviations import (
    AFTER_CLOCK,
    BEFORE_NUMBER,
    CLOCK,
    CLOSES,
    MAYBE_LAST,
    NEVER_LAST,
    SHOUTED,
    SPEECH,
    STARTERS,
)

# Ideographic, small forms, Devanagari, Arabic, Urdu, Armenian, Ethiopic, Khmer, Myanmar, Tibetan, Mongolian.
_FULL = "。｡﹒।॥۔։።፨។៕။༎༏᠃᠉꓿꘎"
_CALL = "！？‼⁇⁈⁉﹗﹖؟፧"
_MARKS = rf"[.!?．…‥{_FULL}{_CALL}]"
_CLOSERS = r"""["'”’»)\]}」』）】》〉〕］｝｣〟♪\U0001F300-\U0001FAFF\u2764\uFE0F*_]"""
_EMOJI = r"[\U0001F300-\U0001FAFF\u2600-\u2604\u2607-\u26FF\u2728\u2764\uFE0F\u200D]"
# A picture in the place of a mark, after a word that ends a Japanese sentence.
_PICTURED = (
    r"(?=[♪〜ー（(\U0001F300-\U0001FAFF\u2600-\u26FF\u2728\u2764])"
    r"(?:(?<=です)|(?<=ます)|(?<=した)|(?<=せん)|(?<=さい)|(?<=[ねよ])|(?<=かも))"
    rf"(?:{_EMOJI}|[〜ー]*♪|[（(]\^\^;?[)）])+"
)
_RUN = re.compile(
    rf"(?:{_MARKS}+(?: \.(?!\w))*{_CLOSERS}*(?:{_MARKS}+{_CLOSERS}*)*|{_PICTURED})"
    rf"(?: ?{_EMOJI}+| :-?[)(D])*"
    r"(?:[（(][笑泣汗爆怒苦][)）])*"
    r"(?:※[0-9０-９]{1,2}|[（(]※?注?[0-9０-９]{1,2}[)）](?=[^、。はがをにでとの])|[¹²³⁴-⁹]{1,2})*"
    r"(?:\[(?:\d{1,3}(?:[,–-] ?\d{1,3})*|(?:note|注) ?\d{1,2}|[a-z]|citation needed|要出典)\])*"
)
_SPACE = re.compile(r"\s*")
_OPENING = "\"'“‘«([{「『（【《〈〔*_`~¿¡"
_BRACKETS = re.compile(r"""["“”「」『』（）()【】《》〈〉〔〕｢｣\[\]]""")
_PAIRS = dict(zip("”」』）】》〉〕｣]", "“「『（【《〈〔｢[", strict=True))
_FULL_WIDTH = {"(": "（", ")": "）"}  # writers mix the two widths in one pair
_OPENERS = frozenset(_PAIRS.values())
_CJK = re.compile(
    r"[\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff「」『』（）【】《》〈〉〔〕]"
)
_WORDISH = re.compile(r"[A-Za-z0-9０-９Ａ-Ｚａ-ｚ]")
# What keeps a Japanese sentence going after a quotation or a call: particles, but not the adverbs that begin alike.
_GOES_ON = re.compile(
    r"[、，,・]|という|って|など|なんて|なら(?!ば|ん|な)|まで|より(?!も)|から(?!だ)|を"
    r"|と(?![てこにもきつりなんくどっ同共])|は(?![いじっずなるーぁた]|やく)|が(?![、，んっ])"
    r"|に(?![ぎほっゃ]|もかかわらず|しても)|の(?![ちどみんぼりる])|も(?![しうちっのとら])|で(?![きもはすしあー])"
    r"|へ(?![えーん])|や(?![がはっますさらめろれ])|だ(?![がかけっれめい])|です(?!が|から)|である"
)
_NAMES_WITH_STOP = ("モーニング娘。", "ゲスの極み乙女。", "いきものがかり。")
_CLOSING = frozenset('”」』）)】》〉〕］｣"')
# Kana that verbs, adjectives and the copula end with, and marks: what stands before is a whole sentence.
_SENTENCE_LAST = frozenset("るたうくすぐむぶつぬいだん。．.!?！？」』）)\n")
_CAPTION = re.compile(r"(?:[図表式第章節項]|No|Fig)\s*[0-9０-９]+$")
_MARKER = re.compile(
    r"[\s*_>#]*[(（]?(?:[A-Za-zＡ-Ｚａ-ｚ]?[0-9０-９]{1,3}|[A-Za-zＡ-Ｚａ-ｚ]|[ivxIVX]{1,4})(?:[.．-][0-9０-９]+)*\s*$"
)
_TOKEN = re.compile(r"[A-Za-zÀ-ɏ0-9.'’&/@:_-]+$")
_SPOKEN = re.compile(rf"(?:[A-Z][\w'’-]*\s+|the\s+|his\s+|her\s+){{1,3}}(?:{SPEECH})\b")
_PRONOUN = re.compile(r"I(?:'[a-z]|’[a-z]| [a-z])")
# A time alone is the beginning of a sentence, not one: At 5 a.m. Mr. Smith left.
_TIME_ONLY = re.compile(r"\s*(?:At|By|On|Around|About|Until|Before|After|Since|From)\s[0-9.:]{1,5}\s?[AaPp]\.?[Mm]$")
_WORD = re.compile(r"[A-Za-z’']+")
# What begins a sentence in lower case: brands, commands, file names, addresses.
_ODD_START = re.compile(
    r"[a-z]{1,5}[A-Z]|https?://|www\.|[a-z][a-z0-9_-]*\.[a-z0-9]"
    r"|(?:npm|pip|nginx|adidas|curl|git|bash|sudo|vim|grep|ssh|docker|kubectl|pytest|jq)\b"
)
_LABELLED = re.compile(
    r"\s*(?:(?:Table|Figure|Chapter|Section|Appendix|Annex|Article|Part|Step|Exhibit|Schedule)"
    r" [0-9A-Z]{1,3}(?:[.-][0-9]+)*|第[0-9０-９一二三四五六七八九十百]{1,4}[条章節項編])\s*"
)
"""A heading's label and number: what follows its full stop is its words."""
_CLAUSE = re.compile(r"[A-Z][a-z]+ (?:is|are|was|were|has|have|had|must|may|will|can|should|needs?|goe?s?|does|did)\b")
_SLANTED = "–—-/~〜→"
_UPPER = re.compile(r"[A-ZÀ-ÖØ-Þ]")
_MULTI_DOT = re.compile(r"(?:[A-Za-z]\.)+[A-Za-z]{1,2}$|(?:Ph|M|B|D|Ed|Sc|Eng)\.(?:D|Sc|Ed|Eng|Phil|A|S)$")
# A bracket that holds more than this, or more sentences than that, no longer holds them together.
_HOLD_LENGTH = 200
_HOLD_SENTENCES = 4


def sentence_ends(text: str, start: int, end: int) -> Iterator[int]:
    """Offsets within ``text[start:end]`` where a sentence, with the white space after it, ends; `end` excluded."""
    held = _held(text, start, end)
    at_held = 0
    unit = start
    cased = _UPPER.search(text, start, end) is not None
    for match in _RUN.finditer(text, start, end):
        mark, after = match.start(), match.end()
        if after >= end:
            return
        while at_held < len(held) and held[at_held][1] < mark:
            at_held += 1
        closed = -1
        if at_held < len(held) and held[at_held][0] < mark:
            closed = held[at_held][0]
            if held[at_held][1] >= after:
                continue
        if _ends(text, unit, match, end, closed=closed, cased=cased):
            space = _SPACE.match(text, after, end)
            after = space.end() if space else after
            if after >= end:
                return
            unit = after
            yield after


def _held(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Outermost brackets and quotes that keep their sentences together, as (opening, closing) offsets."""
    stack: list[tuple[str, int]] = []
    pairs: list[tuple[int, int]] = []
    for match in _BRACKETS.finditer(text, start, end):
        mark, at = _FULL_WIDTH.get(match.group(), match.group()), match.start()
        opening = _PAIRS.get(mark, "")
        if mark == '"' and not (at == start or text[at - 1].isspace() or text[at - 1] in _OPENING):
            opening = '"'
        if mark in _OPENERS or (mark == '"' and not opening):
            stack.append((mark, at))
            continue
        for depth in range(len(stack) - 1, -1, -1):
            if stack[depth][0] == opening:
                pairs.append((stack[depth][1], at))
                del stack[depth:]
                break
    held: list[tuple[int, int]] = []
    for first, last in sorted(pairs):
        if held and first < held[-1][1]:
            continue
        if last - first <= _HOLD_LENGTH and sum(1 for _ in _RUN.finditer(text, first, last)) <= _HOLD_SENTENCES:
            held.append((first, last))
    return held


def _ends(text: str, unit: int, match: re.Match[str], end: int, *, closed: int, cased: bool) -> bool:
    run, mark, after = match.group(), match.start(), match.end()
    before = text[mark - 1] if mark > unit else ""
    following = text[after]
    if any(c in _FULL for c in run):
        if run == "。" and text.endswith(_NAMES_WITH_STOP, unit, mark + 1):
            return False
        quoted = closed >= 0 or any(c in _CLOSING for c in run)
        return not (quoted and _goes_on(text, after, end, unit, closed))
    if any(c in _CALL for c in run):
        return not _goes_on(text, after, end, unit, closed)
    if run[0] not in ".!?．…‥":  # a picture
        return not _goes_on(text, after, end, unit, closed)
    if run[0] in "…‥" or run.startswith(".."):
        return _ellipsis_ends(text, before, after, end)
    if run[0] == "．":
        return _wide_stop_ends(text, unit, mark, after)
    if following.isspace():
        return _ascii_ends(text, unit, match, end, cased=cased)
    if not _CJK.match(following):
        return False
    if run[0] == ".":
        return bool(_CJK.match(before)) if before else False
    shouted = before.isascii() and _last_token(text, unit, mark).lower() in SHOUTED
    return not shouted and not _goes_on(text, after, end, unit, closed)


def _goes_on(text: str, after: int, end: int, unit: int, closed: int) -> bool:
    """Whether the sentence continues after a quotation or a call that ends at `after`."""
    if closed > unit and not text[after].isspace():
        if text[closed] in "『《〈":
            return True  # a title within a sentence
        if text[closed] in "（(" and text[closed - 1] not in _SENTENCE_LAST:
            return True  # a remark within a sentence
    if closed >= unit and text[after].isspace():
        first = _first_of(text, after, end)
        if first is not None and text[first].isascii() and text[first].islower():
            return not _ODD_START.match(text, first, end)
    return _GOES_ON.match(text, after, end) is not None


def _ellipsis_ends(text: str, before: str, after: int, end: int) -> bool:
    if not text[after].isspace() or before in "[(":
        return False
    if before and _CJK.match(before):
        return True
    following = _first_of(text, after, end)
    if following is not None and _PRONOUN.match(text, following, end):
        return False
    return following is not None and (text[following].isupper() or bool(_CJK.match(text[following])))


def _wide_stop_ends(text: str, unit: int, mark: int, after: int) -> bool:
    """A full-width full stop ends a sentence in papers that write ，．; elsewhere it is a decimal point or a marker."""
    before, following = text[mark - 1 : mark], text[after]
    if mark == unit or _MARKER.match(text, unit, mark) or _CAPTION.search(text, unit, mark):
        return False
    return not (_WORDISH.match(before) and _WORDISH.match(following))


def _first_of(text: str, at: int, end: int) -> int | None:
    """Offset of the first character from `at` that is neither white space nor an opening quote."""
    while at < end:
        if not text[at].isspace() and text[at] not in _OPENING:
            return at
        at += 1
    return None


def _last_token(text: str, unit: int, mark: int) -> str:
    token = _TOKEN.search(text, max(unit, mark - 40), mark)
    return token.group() if token else ""


def _ascii_ends(text: str, unit: int, match: re.Match[str], end: int, *, cased: bool) -> bool:
    """An ASCII mark with white space after it."""
    run, mark, after = match.group(), match.start(), match.end()
    first = _first_of(text, after, end)
    if first is None or _MARKER.match(text, unit, mark):
        return False
    quoted = any(c in "\"'”’»)]）」』" for c in run)
    named = text[first - 1] == "`" or _ODD_START.match(text, first, end)
    lower = text[first].islower() and not named
    if (quoted and _GOES_ON.match(text, first, end)) or _LABELLED.fullmatch(text, unit, mark):
        return False
    token = _last_token(text, unit, mark)
    word_match = _WORD.match(text, first, end)
    word = word_match.group() if word_match else ""
    if word == "I" and _PRONOUN.match(text, first, end):
        word = "We"  # an initial is never followed by a small word
    if run == "." and _TIME_ONLY.match(text, unit, mark):
        return False
    if run[0] in "!?":
        if quoted and _SPOKEN.match(text, first, end):
            return False
        if token.lower() in SHOUTED:
            return word in STARTERS
        return not (lower and quoted)
    if "!" in run or "?" in run:
        return not lower
    before_token = mark - len(token) - 1
    if len(token) == 1 and before_token >= unit and text[before_token] in "+-*/=^~#@°%|>":
        token = ""  # the last letter of a sign, a key or a formula: °C, Ctrl+C
    if token.lower() in CLOSES and _CLAUSE.match(text, first, end):
        return True
    return _stop_ends(token, word, text[first], lower=lower and cased)


def _stop_ends(token: str, word: str, following: str, *, lower: bool) -> bool:
    """A single full stop after `token`, before `word` that begins with `following`."""
    if lower:
        return False
    low = token.lower().strip("'’-/&")
    if low in CLOCK and (low[1:2] == "." or word in STARTERS):
        return word not in AFTER_CLOCK and not following.isdigit() and following not in _SLANTED
    if low in NEVER_LAST or (low == "v" and token.islower()):  # Doe v. Harbour Board, but King Philip V.
        return False
    if low in BEFORE_NUMBER and following.isdigit():
        return False
    if low == "etc":
        return not following.isdigit()
    if low in MAYBE_LAST or _MULTI_DOT.match(token):
        return word in STARTERS or bool(_CJK.match(following) and not token)
    if len(token) == 1 and token.isalpha() and token.isupper():
        return word in STARTERS
    return following not in "&%/=<>"
