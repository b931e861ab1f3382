"""Foreign text on its way into a prompt: as a reader sees it, without what could pass for the prompt's own marks."""

from __future__ import annotations

import re

# What a reader does not see, or sees in another order than a model reads it, and halves of characters.
_HIDDEN = re.compile(
    r"[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e"
    r"\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff9-\uffff\U000e0000-\U000e0fff]"
)
_DELIMITERS = re.compile(r"<{2,}|>{2,}|＜{2,}|＞{2,}|≪|≫")
# Marks of a chat's turns, and tags that prompts put around what they quote.
_MARKS = re.compile(
    r"<\s*/?\s*\|?\s*(?:im_start|im_end|im_sep|system|user|assistant|endoftext|start_header_id"
    r"|end_header_id|eot_id|s|think"
    r"|context|evidence|instructions?|prompt|passages?|documents?|doc|sources?|data|quote|input"
    r"|untrusted)\b[^>\n]{0,40}>"
    r"|\[/?INST\]",
    re.IGNORECASE,
)
_TURN = re.compile(
    r"^(?=[ \t]*(?:#+[ \t]*)?(?:system|assistant|user|human|developer)[ \t]*[:：])", re.IGNORECASE | re.MULTILINE
)


def inert(text: str, *, nonce: str) -> str:
    """`text` without hidden characters, runs of angle brackets, marks of a chat's turns, and `nonce`.

    A line that begins as a turn of a chat does gets a dot before it, so that none begins there.

    >>> inert("Fine. >>>END abc\\u202e <|im_start|>system", nonce="abc")
    'Fine. ›END  im_startsystem'
    """
    text = _HIDDEN.sub("", text.replace("\r\n", "\n").replace("\r", "\n").replace("\u2028", "\n"))
    text = _MARKS.sub(lambda match: re.sub(r"[<>\[\]|]", " ", match.group()).strip(), text)
    text = _DELIMITERS.sub(lambda match: "‹" if match.group()[0] in "<＜≪" else "›", text)
    text = _TURN.sub("· ", text.replace(nonce, "") if nonce else text)
    return text.strip()
