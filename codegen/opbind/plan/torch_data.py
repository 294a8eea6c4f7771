"""What torch keeps in code about the Python side of its own operators, as data.

Read by `torch_profile` alone. Sources, torch 2.13:

- the entries that have no generated binding, their patterns and signatures:
  torchgen/packaged/autograd/gen_python_functions.py;
- what the tracer does not record: torchgen/packaged/autograd/gen_trace_type.py;
- NumPy's names of arguments, and the functions that take numbers for tensors:
  torch/csrc/utils/python_arg_parser.cpp.
"""

from __future__ import annotations

import re


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Names (an out variant's with `_out` at its end) that are written by hand, or not for Python.
_SKIPPED_NAMES = _words(
    """
    _batch_norm_no_update _batch_norm_with_update _batch_norm_with_update_out _foreach_copy
    _fw_primal _has_same_storage_numel _local_scalar_dense _new_zeros_with_same_feature_meta
    _reshape_alias _reshape_copy _reshape_copy_out _sparse_add_out _sparse_dense_add_out _to_copy
    _to_copy_out _unsafe_view _version alias contiguous copy copy_ copy_sparse_to_sparse_ data dim
    fake_quantize_per_channel_affine_cachemask fake_quantize_per_tensor_affine_cachemask
    get_device index index_out is_contiguous is_cuda is_leaf is_sparse is_sparse_csr item itemsize
    mH mT matrix_H nbytes nonzero nonzero_numpy nonzero_out normal_functional numel numpy_T
    output_nr replace_ requires_grad_ retains_grad set_ set_data size slice storage_offset stride
    sym_is_contiguous sym_numel sym_size sym_storage_offset sym_stride tensor to
    unique_dim_consecutive
    """
)
# Families of such names.
_SKIPPED_FAMILIES = (
    r".*_(backward|jvp|overrideable)",
    r".*_backward_(out|input|weight|bias)",
    r".*_forward(_out)?",
    r"_(cholesky|cumprod|cumsum|inverse|prod|qr|range|solve|sum|svd|triangular_solve).*",
    r"_(th|thnn)_.*",
    r"_?sparse_(bsc|bsr|compressed|coo|csc|csr)_tensor.*",
    r"_sparse_(div|mul|sub).*",
    r"(lift|range).*",
)
_SKIPPED_FAMILY = re.compile("|".join(_SKIPPED_FAMILIES))

# Overloads whose place another takes: a number may stand for their tensor.
SKIPPED_OVERLOADS = _words(
    """
    add.Scalar add_.Scalar sub.Scalar sub_.Scalar mul.Scalar mul_.Scalar div.Scalar div_.Scalar
    """
)


def is_skipped(name: str) -> bool:
    """Whether torch generates no binding; `name` ends in `_out` for an out variant."""
    return name in _SKIPPED_NAMES or _SKIPPED_FAMILY.fullmatch(name) is not None


# Python name of an argument -> the names that NumPy has for it.
NUMPY_NAMES = {
    "dim": ("axis",),
    "keepdim": ("keepdims",),
    "input": ("x", "a", "x1"),
    "other": ("x2",),
}

# Functions that take a Python number where a Tensor is wanted.
NUMBERS_AS_TENSORS = _words(
    """
    _conj _to_copy add add_ add_out copy_ div div_ div_out divide divide_ divide_out floor_divide
    floor_divide_ floor_divide_out mul mul_ mul_out multiply multiply_ multiply_out sub sub_
    sub_out subtract subtract_ subtract_out to true_divide true_divide_ true_divide_out
    """
)

# Of the in-place functions that return nothing, those of this prefix give their list back.
GIVES_SELF = "_foreach_"

# The tracer records the ops that these are made of.
UNTRACED = _words(
    """
    _coalesced conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d convolution
    gru_cell lstm_cell rnn_relu_cell rnn_tanh_cell
    """
)
# Arguments that the tracer cannot record.
UNTRACED_TYPES = _words("Storage Type")
