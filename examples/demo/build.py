"""Makes the binary and re-encoded documents of the demo corpus from `sources/`.

Each source is a small Markdown file (headings, paragraphs, lists, tables, notes, page breaks) with
front matter: `target` (path below `documents/`), `date`, `language`, `author`; or, for a text file,
`target` and `encoding`. Timestamps are taken from `date` and archives are packed again with fixed
entries, so that two runs with the same libraries give the same bytes.

    python examples/demo/build.py                    # into examples/demo/documents
    python examples/demo/build.py --output DIR       # somewhere else

Japanese PDFs use the standard CID font HeiseiKakuGo-W5, which is named and not embedded: no font
file is shipped, and the text layer reads back as the text that was written.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import build_formats
from build_sources import Source, read_source

HERE = Path(__file__).resolve().parent
SOURCES = HERE / "sources"
DOCUMENTS = HERE / "documents"


def build_all(output: Path) -> list[Path]:
    """Writes every target below `output` and returns the paths in the order of their sources."""
    writers: dict[str, Callable[[Source, Path], None]] = {
        ".docx": build_formats.write_docx,
        ".xlsx": build_formats.write_xlsx,
        ".pptx": build_formats.write_pptx,
        ".pdf": build_formats.write_pdf,
        ".txt": write_text,
    }
    made = []
    for path in sorted(SOURCES.iterdir()):
        source = read_source(path)
        target = output / source.fields["target"]
        target.parent.mkdir(parents=True, exist_ok=True)
        writers[target.suffix](source, target)
        made.append(target)
    return made


def write_text(source: Source, target: Path) -> None:
    """Plain text in the encoding of the source; UTF-16 is little-endian with a byte order mark."""
    encoding = source.fields["encoding"]
    prefix = b""
    if encoding == "utf-16":
        encoding, prefix = "utf-16-le", b"\xff\xfe"
    target.write_bytes(prefix + source.body.encode(encoding))


def main() -> int:
    parser = argparse.ArgumentParser(description="Build the binary files of the demo corpus.")
    parser.add_argument("--output", type=Path, default=DOCUMENTS, help="where to write")
    made = build_all(parser.parse_args().output)
    size = sum(path.stat().st_size for path in made)
    print(f"{len(made)} files, {size / 1024:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
