from __future__ import annotations

import json
import subprocess
import sys

import tadasu

PROMISED = {
    "Answer",
    "AnswerStatus",
    "Citation",
    "Deferral",
    "Grade",
    "Level",
    "Reader",
    "Reason",
    "Run",
    "Scope",
    "SyncTadasu",
    "Tadasu",
    "TadasuError",
    "Verdict",
    "__version__",
}
HEAVY = {
    "httpx2",
    "numpy",
    "onnxruntime",
    "tokenizers",
    "sudachipy",
    "sqlalchemy",
    "pydantic",
    "rich",
    "typer",
    "alembic",
    "asyncio",
    "opentelemetry",
    "prometheus_client",
    "structlog",
}


def test_what_is_promised_is_exported_and_nothing_else() -> None:
    assert set(tadasu.__all__) == PROMISED
    assert all(getattr(tadasu, name) is not None for name in tadasu.__all__)
    assert set(dir(tadasu)) == PROMISED


def test_importing_tadasu_loads_nothing_heavy() -> None:
    program = "import sys, json; import tadasu; print(json.dumps(sorted(m.split('.')[0] for m in sys.modules)))"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)
    assert not HEAVY & set(json.loads(loaded.stdout))
