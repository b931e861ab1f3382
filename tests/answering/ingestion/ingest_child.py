"""Ingests a folder with the real encoder and the SQLite index, saying each file that is done; killed by a test.

python ingest_child.py FOLDER INDEX
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from tadasu.answering.ingestion.pipeline import Ingestion
from tadasu.answering.ingestion.reading import IngestionSettings
from tadasu.answering.retrieval.embedders.onnx import OnnxEncoder
from tadasu.answering.retrieval.stores.sqlite import open_store
from tadasu.runtime.world import SystemClock
from tadasu.text.analyze import analyzer_id

ENCODER = Path(__file__).resolve().parents[3] / "models" / "encoder"


async def main(folder: Path, index: Path) -> None:
    encoder = OnnxEncoder.load(ENCODER)
    store = open_store(index, encoder_id=encoder.id, dimensions=encoder.dimensions, analyzer_id=analyzer_id())
    settings = IngestionSettings(batch_passages=4)
    run = Ingestion(index=store, encoder=encoder, counter=encoder, clock=SystemClock(), settings=settings)
    await run.run(folder, on_progress=lambda progress: print(progress.done, flush=True))
    await store.close()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2])))
