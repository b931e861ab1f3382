from __future__ import annotations

import subprocess
import sys

_LIGHT = ("normalize", "language", "segment", "numbers", "dates", "names", "messages")


def test_only_the_analyser_loads_a_dictionary() -> None:
    program = (
        "import sys, importlib\n"
        f"for name in {_LIGHT!r}: importlib.import_module('tadasu.text.' + name)\n"
        "print([m for m in ('sudachipy', 'sudachidict_core', 'snowballstemmer', 'numpy') if m in sys.modules])\n"
        "from tadasu.text.analyze import tokens\n"
        "tokens('plain English words')\n"
        "print('sudachipy' in sys.modules)\n"
    )
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert shown.split("\n")[:2] == ["[]", "False"]
