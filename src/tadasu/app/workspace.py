"""The folder that a Tadasu lives in: ``tadasu.toml`` beside ``.tadasu/`` with the index and the state."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tadasu.errors import WorkspaceExists, WorkspaceMissing

SETTINGS_FILE = "tadasu.toml"
DATA_FOLDER = ".tadasu"
LABELS_FILE = "labels.jsonl"
CALIBRATION_FILE = "calibration.json"


@dataclass(frozen=True, slots=True)
class Workspace:
    """Paths of one workspace. `root` is absolute."""

    root: Path

    @property
    def settings_file(self) -> Path:
        """The settings, written by people."""
        return self.root / SETTINGS_FILE

    @property
    def labels_file(self) -> Path:
        """What people said of passages (`tadasu label`); one line each, only ever appended to."""
        return self.root / LABELS_FILE

    @property
    def calibration_file(self) -> Path:
        """What those labels say of the grader (`tadasu calibrate`); can be compared and kept under version control."""
        return self.root / CALIBRATION_FILE

    @property
    def index_file(self) -> Path:
        """The index; can be made anew from the documents at any time."""
        return self.root / DATA_FOLDER / "index.db"

    @property
    def tags_file(self) -> Path:
        """The access groups that were given for folders; outlives the index."""
        return self.root / DATA_FOLDER / "groups.json"

    @property
    def scores_file(self) -> Path:
        """The cache of graders' scores; can be deleted at any time."""
        return self.root / DATA_FOLDER / "scores.db"

    @property
    def pages_file(self) -> Path:
        """The cache of web pages; can be deleted at any time."""
        return self.root / DATA_FOLDER / "pages.db"

    @property
    def state_file(self) -> Path:
        """Runs and all else that cannot be made anew."""
        return self.root / DATA_FOLDER / "state.db"


def find_workspace(start: Path) -> Workspace:
    """The workspace at `start` or the nearest one above it; raises WorkspaceMissing."""
    start = start.expanduser().resolve()
    for folder in (start, *start.parents):
        if (folder / SETTINGS_FILE).is_file():
            return Workspace(folder)
    raise WorkspaceMissing(path=start)


def create_workspace(root: Path, settings_text: str) -> Workspace:
    """A new workspace in `root` (made if need be) with `settings_text` as its settings; raises WorkspaceExists."""
    root = root.expanduser().resolve()
    workspace = Workspace(root)
    if workspace.settings_file.exists():
        raise WorkspaceExists(path=root)
    workspace.index_file.parent.mkdir(parents=True, exist_ok=True)
    (workspace.index_file.parent / ".gitignore").write_text("*\n", encoding="utf-8")
    workspace.settings_file.write_text(settings_text, encoding="utf-8")
    return workspace
