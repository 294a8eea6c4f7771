"""Fake kernels, for what a C++ Meta kernel cannot say, or must not do."""

import torch


def nms(boxes: torch.Tensor, scores: torch.Tensor, iou_threshold: float) -> torch.Tensor:
    """Indices of shape (count,), int64; how many stay is known only when the boxes are."""
    del scores, iou_threshold
    count = torch.library.get_ctx().new_dynamic_size()
    return boxes.new_empty((count,), dtype=torch.int64)


def keep(self: torch.Tensor) -> None:
    """Nothing: what torch.compile traces with is not for C++ to hold."""
