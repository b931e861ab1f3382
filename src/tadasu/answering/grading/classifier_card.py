"""How a classifier from elsewhere wants to be fed and read: from its own Hugging Face files, and from `grader.json`.

``grader.json`` (or the object under ``tadasu`` in ``config.json``) may say, each where the folder cannot: ``scale``,
``template``, ``window``, ``positive``, ``range``. See ``docs/how-to/graders.md``.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tadasu.core.scores import ScoreScale
from tadasu.errors import ModelUnavailable, SettingsInvalid
from tadasu.ports import ScorerSettings
from tadasu.runtime.pair_card import CARD, MODEL, TOKENIZER, read_json

PLACES = ("{question}", "{passage}", "{title}")
_POSITIVE = ("relevant", "positive", "true", "yes", "entailment", "label_1", "1")
_SHORTEST_WINDOW = 16
_ENDLESS = 1_000_000


@dataclass(frozen=True, slots=True)
class ClassifierCard:
    """A sequence classifier and how it is read.

    `window` is the most tokens of one input, special ones included. `template` is the text of one input with
    ``{question}``, ``{passage}`` and perhaps ``{title}`` in it; empty where the tokenizer makes the pair. `positive` is
    the number of the label that means relevant, None where the model gives one number or the files do not say.
    `lowest` and `highest` are what the model's numbers lie between where they are to be moved to [0, 1], else None.
    """

    id: str
    scale: ScoreScale
    window: int
    template: str
    positive: int | None
    lowest: float | None
    highest: float | None


def read_classifier(folder: Path, settings: ScorerSettings) -> ClassifierCard:
    """What the folder and the settings say together; the settings' scale goes before the card's.

    Raises:
        ModelUnavailable: a file is missing, damaged or says something impossible.
        SettingsInvalid: nobody says what the scores mean, or which label means relevant.
    """
    for name in (MODEL, TOKENIZER):
        if not (folder / name).is_file():
            raise ModelUnavailable(path=folder / name, reason="no such file")
    config, words = (_optional(folder / name) for name in ("config.json", "tokenizer_config.json"))
    card = _card(folder)
    scale = settings.scale or _declared(card, folder)
    lowest, highest = _range(card, scale, folder)
    template = _template(card, folder)
    window = _window(card, config, words, settings.max_tokens, folder)
    positive = _positive(card, config, folder)
    read = json.dumps([scale.value, template, window, positive, lowest, highest])
    return ClassifierCard(
        id=f"{folder.resolve().name}@{_digest(folder, read, card)}",
        scale=scale,
        window=window,
        template=template,
        positive=positive,
        lowest=lowest,
        highest=highest,
    )


def _declared(card: Mapping[str, Any], folder: Path) -> ScoreScale:
    told = card.get("scale")
    if told is None:
        reason = (
            f"is not set, and the model in {folder} does not say what its scores mean; they are never guessed. "
            'Write scale = "logit" (any number, its logistic function is a probability) or scale = "probability" '
            "(a number from 0 to 1) under [scorer], as the model's own page says"
        )
        raise SettingsInvalid(where="tadasu.toml", key="scorer.scale", reason=reason)
    try:
        return ScoreScale(told)
    except ValueError:
        raise SettingsInvalid(
            where=str(folder / CARD), key="scale", reason=f'is {told!r}; write "logit" or "probability"'
        ) from None


def _range(card: Mapping[str, Any], scale: ScoreScale, folder: Path) -> tuple[float | None, float | None]:
    if "range" not in card:
        return None, None
    try:
        lowest, highest = (float(end) for end in card["range"])
    except (TypeError, ValueError):
        lowest = highest = 0.0
    if not lowest < highest:
        reason = "must be two numbers, the lower one first, such as [-1, 1]"
        raise SettingsInvalid(where=str(folder / CARD), key="range", reason=reason)
    if scale is not ScoreScale.PROBABILITY:
        reason = 'moves scores to [0, 1]: with it the scale is "probability"'
        raise SettingsInvalid(where=str(folder / CARD), key="range", reason=reason)
    return lowest, highest


def _template(card: Mapping[str, Any], folder: Path) -> str:
    template = str(card.get("template", ""))
    if template and any(template.count(place) != 1 for place in PLACES[:2]):
        reason = "must hold {question} and {passage}, each once"
        raise SettingsInvalid(where=str(folder / CARD), key="template", reason=reason)
    return template


def _window(
    card: Mapping[str, Any], config: Mapping[str, Any], words: Mapping[str, Any], longest: int, folder: Path
) -> int:
    """The shortest of what is said; a tokenizer that knows no limit says an absurd number."""
    told = [card.get("window"), words.get("model_max_length"), config.get("max_position_embeddings"), longest]
    known = [int(one) for one in told if isinstance(one, (int, float)) and 0 < one < _ENDLESS]
    window = min(known)
    if window < _SHORTEST_WINDOW:
        raise ModelUnavailable(path=folder, reason=f"its longest input is {window} tokens, too short for a passage")
    return window


def _positive(card: Mapping[str, Any], config: Mapping[str, Any], folder: Path) -> int | None:
    labels = _labels(config)
    told = card.get("positive")
    if isinstance(told, int) and not isinstance(told, bool) and 0 <= told < max(len(labels), told + 1):
        return told
    if told is not None:
        if str(told) in labels:
            return labels.index(str(told))
        reason = f"is {told!r}; write the number or the name of a label of config.json ({', '.join(labels)})"
        raise SettingsInvalid(where=str(folder / CARD), key="positive", reason=reason)
    if len(labels) < 2:
        return None
    named = [index for index, label in enumerate(labels) if re.sub(r"[\s-]+", "_", label.lower()) in _POSITIVE]
    if len(named) != 1:
        reason = f"is not set, and the labels ({', '.join(labels)}) do not tell which one means relevant; name it there"
        raise SettingsInvalid(where=str(folder / CARD), key="positive", reason=reason)
    return named[0]


def _labels(config: Mapping[str, Any]) -> list[str]:
    told = config.get("id2label")
    if isinstance(told, Mapping) and all(str(key).isdigit() for key in told):
        return [str(told[key]) for key in sorted(told, key=int)]
    count = config.get("num_labels")
    return [f"LABEL_{index}" for index in range(count)] if isinstance(count, int) and 0 < count < 1_000 else []


def _digest(folder: Path, read: str, card: Mapping[str, Any]) -> str:
    """Changes with any byte of model and tokenizer, and with how they are read; what the card promises is believed."""
    promised = _promised(card)
    whole = hashlib.sha256(read.encode("utf-8"))
    for path in (*weights(folder), folder / TOKENIZER):
        whole.update((promised.get(path.name) or _hash(path)).encode("utf-8"))
    return whole.hexdigest()[:12]


def check_files(folder: Path) -> None:
    """Hold the files against the SHA-256 that the card promises, if it does; raises ModelUnavailable.

    Some gigabytes take seconds: it is done where the model is loaded, not where the card is read.
    """
    for name, wanted in _promised(_card(folder)).items():
        path = folder / Path(name).name
        found = _hash(path)
        if wanted != found:
            reason = f"its SHA-256 is {found[:12]}…, the card says {wanted[:12]}…: damaged or changed"
            raise ModelUnavailable(path=path, reason=reason)


def _promised(card: Mapping[str, Any]) -> dict[str, str]:
    files = card.get("files")
    return {str(name): str(digest) for name, digest in files.items()} if isinstance(files, Mapping) else {}


def _hash(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ModelUnavailable(path=path, reason=error.strerror or str(error)) from error


def _card(folder: Path) -> dict[str, Any]:
    return _optional(folder / CARD) or dict(_optional(folder / "config.json").get("tadasu") or {})


def weights(folder: Path) -> Sequence[Path]:
    """`model.onnx` and the files beside it that hold its weights where it is too large for one."""
    return sorted(path for path in folder.glob(f"{MODEL}*") if path.is_file())


def _optional(path: Path) -> dict[str, Any]:
    return read_json(path) if path.is_file() else {}
