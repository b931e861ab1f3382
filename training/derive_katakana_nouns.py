"""Make `src/tadasu/text/data/katakana_nouns.txt`: katakana words that are no names.

    python -m training.derive_katakana_nouns

Counts katakana runs on the Japanese training texts, splits them with Sudachi, and keeps the parts that its dictionary
calls common nouns and that were met at least `LEAST` times. `tadasu.text.names` takes a run that is made of these for
an ordinary word. The same inputs give the same bytes.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from sudachipy import Dictionary, SplitMode

from tadasu.text.normalize import fold
from training import corpora

OUT = Path(__file__).resolve().parents[1] / "src" / "tadasu" / "text" / "data" / "katakana_nouns.txt"
LEAST = 3
_RUN = re.compile(r"[ァ-ヺー]{3,}")


def common_nouns() -> list[str]:
    """The words, in code point order."""
    runs: Counter[str] = Counter()
    for name in corpora.COUNTED:
        if not corpora.is_english(name):
            for text in corpora.texts_of(name):
                runs.update(_RUN.findall(fold(text)))
    tokenizer = Dictionary(dict="core").tokenizer(SplitMode.A)
    words: Counter[str] = Counter()
    for run, count in runs.items():
        for morpheme in tokenizer.tokenize(run):
            kind = morpheme.part_of_speech()
            if kind[0] == "名詞" and kind[1] == "普通名詞" and not morpheme.is_oov() and len(morpheme.surface()) > 1:
                words[morpheme.surface()] += count
    return sorted(word for word, count in words.items() if count >= LEAST)


def main() -> None:
    """Write the list and say how long it is."""
    words = common_nouns()
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text("\n".join(words) + "\n", encoding="utf-8")
    print(f"{len(words)} words, {OUT.stat().st_size} bytes: {OUT}")


if __name__ == "__main__":
    main()
