"""Tadasu: a RAG system that corrects itself and proves it.

>>> from tadasu import Tadasu
>>> tadasu = Tadasu.open("my-documents")            # doctest: +SKIP
>>> tadasu.ingest("handbook/")                       # doctest: +SKIP
>>> print(tadasu.ask_sync("What is covered?").text)  # doctest: +SKIP
"""

from __future__ import annotations

__version__ = "0.1.0"
