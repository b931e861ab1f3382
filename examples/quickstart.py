"""The Python API in one screen: open, ingest, ask, look behind the answer. Run it from the root of the repository."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tadasu import AnswerStatus, Tadasu
from tadasu.app.workspace import create_workspace


def main() -> None:
    """Ask two questions over two documents, one of them in Japanese."""
    with tempfile.TemporaryDirectory() as folder:
        documents = Path(folder) / "documents"
        documents.mkdir()
        (documents / "warranty.md").write_text(
            "# Warranty\n\nThe warranty of the PT-300 is 36 months from delivery.\n", "utf-8"
        )
        (documents / "校正.md").write_text("# 校正\n\nPT-300の校正周期は18か月です。\n", "utf-8")
        create_workspace(Path(folder), "")

        tadasu = Tadasu.open(folder)
        report = tadasu.sync.ingest(documents)
        print(f"{report.added} documents, {report.passages} passages")

        for question in ("How long is the warranty of the PT-300?", "PT-300の校正周期は何か月ですか？"):
            run = tadasu.sync.ask(question)
            print(run.answer.text if run.answer.status is AnswerStatus.ANSWERED else f"not known: {run.answer.reason}")
            for citation in run.answer.citations:
                print(f"  [{citation.marker}] {citation.source}: {citation.quote}")
            print(f"  {run.verdict.name}, {run.cost}, {len(run.calls)} calls")
        tadasu.sync.close()


if __name__ == "__main__":
    main()
