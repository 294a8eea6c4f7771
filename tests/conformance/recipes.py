"""Arguments for functions that take only what goes together, and that no sample of torch's reaches.

By the last part of the function's name; each call makes its own tensors. A dict at the end holds
keyword arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from compare import HOLDS_POINTER
from torch import arange, linspace, ones, rand, randint, tensor, zeros

Arguments = tuple[Any, ...]


def _quantized(*shape: int) -> torch.Tensor:
    return torch.quantize_per_tensor(rand(shape), 0.1, 10, torch.quint8)


def _by_channel() -> torch.Tensor:
    scales, zeros_ = tensor([0.1, 0.2]), tensor([0, 1])
    return torch.quantize_per_channel(rand(2, 3), scales, zeros_, 0, torch.qint8)


def _sparse() -> torch.Tensor:
    return tensor([[0.0, 2.0, 0.0], [1.0, 0.0, 3.0], [0.0, 0.0, 4.0]]).to_sparse()


def _csr() -> torch.Tensor:
    return _sparse().to_sparse_csr()


def _csc() -> torch.Tensor:
    return _sparse().to_sparse_csc()


def _nested() -> torch.Tensor:
    return torch.nested.nested_tensor([rand(2, 3), rand(1, 3)])


def _jagged() -> torch.Tensor:
    return torch.nested.nested_tensor([rand(2, 3), rand(1, 3)], layout=torch.jagged)


def _buffer() -> Arguments:
    """Of a nested tensor: its memory, sizes, strides and offsets."""
    return rand(9), tensor([[2, 3], [1, 3]]), tensor([[3, 1], [3, 1]]), tensor([0, 6])


def _four_bits() -> Arguments:
    """Weights of 32 by 64, packed in pairs, with scales."""
    return randint(0, 255, (32, 32), dtype=torch.uint8), rand(32, 1)


def _packed(made: torch.Tensor) -> torch.Tensor:
    setattr(made, HOLDS_POINTER, True)
    return made


def _fbgemm(*shape: int) -> Arguments:
    """Weights of a shape, the same packed, offsets of columns, scale, zero point."""
    weight, offsets, scale, zero = torch.fbgemm_linear_quantize_weight(rand(shape))
    return weight, _packed(torch.fbgemm_pack_quantized_matrix(weight)), offsets, scale, zero


def _quantized_cell(gates: int) -> Arguments:
    weight, packed, offsets, scale, zero = _fbgemm(gates * 4, 4)
    biases = (rand(gates * 4), rand(gates * 4))
    return weight, weight, *biases, packed, packed, offsets, offsets, scale, scale, zero, zero


def _prepacked() -> torch.Tensor:
    return _packed(torch._wrapped_linear_prepack(rand(4, 3), tensor(0.1), tensor(0), rand(4)))


def _cell(gates: int) -> Arguments:
    return rand(3, 4), rand(3, 6), rand(gates * 6, 4), rand(gates * 6, 6), rand(6 * gates), None


def _layers(gates: int, state: Any) -> Arguments:
    parameters = [rand(gates * 6, 4), rand(gates * 6, 6), rand(gates * 6), rand(gates * 6)]
    return rand(5, 3, 4), state, parameters, True, 1, 0.0, False, False, False


def _convolution(dimensions: int) -> Arguments:
    return rand(1, 2, *[5] * dimensions), rand(3, 2, *[2] * dimensions)


Recipe = Callable[[], Arguments]
# Functions of one quantized, sparse, compressed or nested tensor.
_KINDS: dict[str, tuple[Recipe, ...]] = {
    "int_repr qscheme q_scale q_zero_point": (lambda: (_quantized(2, 3),),),
    "q_per_channel_axis q_per_channel_scales q_per_channel_zero_points": (
        lambda: (_by_channel(),),
    ),
    "_coalesced_": (lambda: (_sparse(), True),),
    "_dimI _dimV _indices _nnz _values coalesce indices is_coalesced values _to_dense sparse_dim "
    "dense_dim _sparse_sum": (
        lambda: (_sparse(),),
        lambda: (_sparse().coalesce(),),
    ),
    "crow_indices col_indices crow_indices_copy col_indices_copy": (lambda: (_csr(),),),
    "ccol_indices row_indices ccol_indices_copy row_indices_copy": (lambda: (_csc(),),),
    "_nested_tensor_size _nested_tensor_strides _nested_tensor_storage_offsets": (
        lambda: (_nested(),),
    ),
    "to_padded_tensor nested_to_padded_tensor": (lambda: (_nested(), 0.0),),
    "_sparse_sparse_matmul": (lambda: (_sparse(), _sparse()),),
    "smm hspmm": (lambda: (_sparse(), rand(3, 3)),),
    "sspaddmm": (lambda: (_sparse(), _sparse(), rand(3, 3)),),
    "sparse_mask": (lambda: (rand(3, 3), _sparse().coalesce()),),
    "resize_as_sparse_": (lambda: (_sparse(), _sparse()),),
    "sparse_resize_ sparse_resize_and_clear_": (lambda: (_sparse(), [4, 4], 2, 0),),
    "_sparse_softmax _sparse_log_softmax": (lambda: (_sparse(), 1), lambda: (_sparse(), 0, None)),
    "_sparse_csr_sum _sparse_csr_prod": (lambda: (_csr(), [0], True),),
    "binary_cross_entropy binary_cross_entropy_with_logits kl_div": (
        lambda: (rand(3, 4), rand(3, 4)),
    ),
    "cross_entropy_loss nll_loss nll_loss_nd": (
        lambda: (rand(3, 5), arange(3)),
        lambda: (rand(3, 5), arange(3), rand(5), 1),
    ),
    "nll_loss2d": (lambda: (rand(1, 3, 2, 2), zeros(1, 2, 2, dtype=torch.int64)),),
    "cosine_embedding_loss": (lambda: (rand(3, 4), rand(3, 4), ones(3)),),
    "ctc_loss _ctc_loss": (
        lambda: (rand(5, 2, 4).log_softmax(2), ones(2, 3, dtype=torch.int64), [5, 5], [3, 2]),
    ),
    "einsum": (lambda: ("ij,jk->ik", [rand(2, 3), rand(3, 4)]), lambda: ("ii", [rand(3, 3)])),
    "tensordot": (lambda: (rand(2, 3), rand(3, 4), [1], [0]),),
    "stft": (lambda: (rand(20), 8, None, None, None, False, True, True),),
    "orgqr": (lambda: (rand(3, 3), rand(3)),),
    "gru_cell": (lambda: _cell(3),),
    "lstm_cell": (
        lambda: (rand(3, 4), [rand(3, 6), rand(3, 6)], rand(24, 4), rand(24, 6), rand(24)),
    ),
    "lstm": (lambda: _layers(4, [zeros(1, 3, 6), zeros(1, 3, 6)]),),
    "gru": (lambda: _layers(3, zeros(1, 3, 6)),),
    "rnn_relu rnn_tanh": (lambda: _layers(1, zeros(1, 3, 6)),),
    "grid_sampler _grid_sampler_2d_cpu_fallback": (
        lambda: (rand(1, 2, 4, 4), rand(1, 3, 3, 2), 0, 0, True),
    ),
    "affine_grid_generator": (lambda: (rand(1, 2, 3), [1, 2, 4, 4], False),),
    "instance_norm": (lambda: (rand(2, 3, 4), None, None, None, None, True, 0.1, 1e-5, False),),
    "conv_tbc": (lambda: (rand(5, 2, 3), rand(2, 3, 4), rand(4), 0),),
    "convolution": (lambda: (*_convolution(2), None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1),),
    "_convolution_mode": (lambda: (*_convolution(2), None, [1, 1], "same", [1, 1], 1),),
    "thnn_conv2d": (lambda: (*_convolution(2), [2, 2]),),
    "slow_conv3d": (lambda: (*_convolution(3), [2, 2, 2]),),
    "slow_conv_dilated2d": (lambda: (*_convolution(2), [2, 2]),),
    "slow_conv_dilated3d": (lambda: (*_convolution(3), [2, 2, 2]),),
    "slow_conv_transpose2d": (lambda: (rand(1, 3, 5, 5), rand(3, 2, 2, 2), [2, 2]),),
    "slow_conv_transpose3d": (lambda: (rand(1, 3, 5, 5, 5), rand(3, 2, 2, 2, 2), [2, 2, 2]),),
    "col2im": (lambda: (rand(1, 8, 9), [4, 4], [2, 2], [1, 1], [0, 0], [1, 1]),),
    "fractional_max_pool2d": (lambda: (rand(1, 2, 5, 5), [2, 2], [3, 3], rand(1, 2, 2)),),
    "fractional_max_pool3d": (lambda: (rand(1, 2, 5, 5, 5), [2] * 3, [3] * 3, rand(1, 2, 3)),),
    "upsample_nearest3d _upsample_nearest_exact3d": (lambda: (rand(1, 2, 3, 3, 3), [4, 4, 4]),),
    "upsample_trilinear3d": (lambda: (rand(1, 2, 3, 3, 3), [4, 4, 4], False),),
    "quantize_per_tensor": (lambda: (rand(2, 3), 0.1, 10, torch.quint8),),
    "quantize_per_tensor_dynamic": (lambda: (rand(2, 3), torch.quint8, False),),
    "quantize_per_channel": (
        lambda: (rand(2, 3), tensor([0.1, 0.2]), tensor([0, 1]), 0, torch.qint8),
    ),
    "_make_per_tensor_quantized_tensor": (lambda: (ones(3, dtype=torch.uint8), 0.1, 10),),
    "quantized_max_pool1d": (lambda: (_quantized(1, 2, 6), [2]),),
    "quantized_max_pool2d": (lambda: (_quantized(1, 2, 6, 6), [2, 2]),),
    "quantized_max_pool3d": (lambda: (_quantized(1, 2, 6, 6, 6), [2, 2, 2]),),
    "quantized_batch_norm": (
        lambda: (_quantized(1, 2, 4, 4), rand(2), rand(2), rand(2), rand(2), 1e-5, 0.1, 10),
    ),
    "_int_mm": (lambda: (ones(17, 8, dtype=torch.int8), ones(8, 16, dtype=torch.int8)),),
    "_masked_softmax": (lambda: (rand(2, 3), zeros(2, 3, dtype=torch.bool), 1),),
    "_pack_padded_sequence": (lambda: (rand(4, 2, 3), tensor([4, 2]), False),),
    "_fft_c2c": (lambda: (rand(3, dtype=torch.complex64), [0], 0, True),),
    "_fft_c2r": (lambda: (rand(3, dtype=torch.complex64), [0], 0, 4),),
    "_rowwise_prune": (lambda: (rand(3, 2), tensor([True, False, True]), torch.int64),),
    "view_as_complex_copy": (lambda: (rand(3, 2),),),
    "addmv_": (lambda: (rand(2), rand(2, 3), rand(3)),),
    "_validate_sparse_csr_tensor_args _validate_sparse_csc_tensor_args": (
        lambda: (tensor([0, 1, 2]), tensor([0, 1]), rand(2), [2, 2]),
    ),
    "mkldnn_max_pool2d": (lambda: (rand(1, 2, 4, 4).to_mkldnn(), [2, 2]),),
    "mkldnn_adaptive_avg_pool2d": (lambda: (rand(1, 2, 4, 4).to_mkldnn(), [2, 2]),),
    "mkldnn_linear": (lambda: (rand(2, 3).to_mkldnn(), rand(4, 3)),),
    "_mkldnn_reshape": (lambda: (rand(2, 3).to_mkldnn(), [3, 2]),),
    "_mkldnn_transpose": (lambda: (rand(2, 3).to_mkldnn(), 0, 1),),
    "_reshape_from_tensor": (lambda: (rand(2, 3), tensor([3, 2])),),
    "_nested_from_padded": (lambda: (rand(2, 3, 4), tensor([[2, 4], [3, 4]])),),
    "_nested_tensor_from_mask _nested_tensor_from_mask_left_aligned": (
        lambda: (rand(2, 3, 4), ones(2, 3, dtype=torch.bool)),
    ),
    "native_norm": (lambda: (_sparse(), 2),),
    "_sobol_engine_initialize_state_": (lambda: (zeros(2, 30, dtype=torch.int64), 2),),
    "_sparse_mask_projection": (lambda: (_sparse().coalesce(), _sparse().coalesce()),),
    "_sparse_broadcast_to": (lambda: (_sparse(), [2, 3, 3]),),
    "_sparse_softmax_backward_data _sparse_log_softmax_backward_data": (
        lambda: (_sparse().coalesce(), _sparse().coalesce(), 1, _sparse().coalesce()),
    ),
    "_sparse_mm_reduce_impl": (lambda: (_csr(), rand(3, 2), "sum"),),
    "_spdiags": (lambda: (rand(2, 3), tensor([0, 1]), [3, 3]),),
    "_coalesce": (
        lambda: (torch.sparse_coo_tensor(tensor([[0, 0, 2], [1, 1, 2]]), rand(3), (3, 3)),),
    ),
    "_nested_get_offsets _nested_get_values _nested_get_lengths _nested_get_ragged_idx "
    "_nested_get_max_seqlen _nested_get_min_seqlen _nested_get_jagged_dummy": (
        lambda: (_jagged(),),
    ),
    "_nested_view_from_jagged": (
        lambda: (rand(3, 3), tensor([0, 2, 3]), torch._nested_get_jagged_dummy(_jagged())),
    ),
    "_nested_from_padded_tensor": (
        lambda: (rand(2, 2, 3), tensor([0, 2, 3]), torch._nested_get_jagged_dummy(_jagged())),
    ),
    "_nested_view_from_buffer _nested_view_from_buffer_copy": (_buffer,),
    "_nested_from_padded_and_nested_example": (lambda: (rand(2, 2, 3), _nested()),),
    "_nested_tensor_softmax_with_shape": (lambda: (rand(2, 2, 2, 2), _nested()),),
    "istft": (lambda: (rand(5, 6, dtype=torch.complex64), 8, None, None, ones(8)),),
    "upsample_bilinear2d": (lambda: (rand(1, 2, 3, 3), [4, 4], False),),
    "max_pool3d": (lambda: (rand(1, 2, 4, 4, 4), [2, 2, 2]),),
    "_batch_norm_impl_index": (
        lambda: (rand(2, 3, 4), *(rand(3) for _ in range(4)), True, 0.1, 1e-5, False),
    ),
    "_histogramdd_from_bin_tensors": (
        lambda: (rand(5, 2), [linspace(0, 1, 4), linspace(0, 1, 3)]),
    ),
    "_linalg_check_errors": (
        lambda: (zeros(2, dtype=torch.int32), "linalg.inv", {"is_matrix": False}),
    ),
    "_sobol_engine_scramble_": (
        lambda: (zeros(2, 30, dtype=torch.int64), ones(2, 30, 30, dtype=torch.int64), 2),
    ),
    "_transform_bias_rescale_qkv": (lambda: (rand(2, 3, 12), rand(12), 2),),
    "_grouped_mm": (
        lambda: (rand(3, 16, 16, dtype=torch.bfloat16), rand(3, 16, 16, dtype=torch.bfloat16)),
    ),
    "_empty_affine_quantized": (lambda: ([2, 3], {"dtype": torch.quint8, "scale": 0.1}),),
    "_empty_per_channel_affine_quantized": (
        lambda: (
            [2, 3],
            {"scales": rand(2), "zero_points": arange(2), "axis": 0, "dtype": torch.qint8},
        ),
    ),
    "empty_quantized": (lambda: ([2, 3], _quantized(2, 3)),),
    "_make_per_channel_quantized_tensor": (
        lambda: (ones(2, 3, dtype=torch.uint8), tensor([0.1, 0.2]), arange(2), 0),
    ),
    "_validate_compressed_sparse_indices": (
        lambda: (True, tensor([0, 1, 2]), tensor([0, 1]), 2, 2, 2),
    ),
    "_validate_sparse_compressed_tensor_args": (
        lambda: (tensor([0, 1, 2]), tensor([0, 1]), rand(2), [2, 2], torch.sparse_csr),
    ),
    "_validate_sparse_bsr_tensor_args _validate_sparse_bsc_tensor_args": (
        lambda: (tensor([0, 1, 2]), tensor([0, 1]), rand(2, 1, 1), [2, 2]),
    ),
    "_convert_weight_to_int4pack_for_cpu": (
        lambda: (randint(0, 15, (32, 64), dtype=torch.int32), 2),
    ),
    "_weight_int4pack_mm_for_cpu": (
        lambda: (
            rand(2, 64, dtype=torch.bfloat16),
            torch._convert_weight_to_int4pack_for_cpu(
                randint(0, 15, (32, 64), dtype=torch.int32), 2
            ),
            32,
            rand(2, 32, 2, dtype=torch.bfloat16),
        ),
    ),
    "_weight_int8pack_mm": (
        lambda: (
            rand(2, 32, dtype=torch.bfloat16),
            randint(-9, 9, (16, 32), dtype=torch.int8),
            rand(16, dtype=torch.bfloat16),
        ),
    ),
    "_dyn_quant_pack_4bit_weight": (lambda: (*_four_bits(), None, 64, 64, 32),),
    "_dyn_quant_matmul_4bit": (
        lambda: (
            rand(2, 64),
            torch.ops.aten._dyn_quant_pack_4bit_weight(*_four_bits(), None, 64, 64, 32),
            *(64, 64, 32),
        ),
    ),
    "_wrapped_linear_prepack": (lambda: (rand(4, 3), tensor(0.1), tensor(0), rand(4)),),
    "_wrapped_quantized_linear_prepacked": (
        lambda: (rand(2, 3), tensor(0.1), tensor(0), _prepacked(), tensor(0.1), tensor(0), 4),
    ),
    "fbgemm_linear_fp16_weight fbgemm_linear_fp16_weight_fp32_activation": (
        lambda: (rand(2, 3), _packed(torch.fbgemm_pack_gemm_matrix_fp16(rand(4, 3))), rand(4)),
    ),
    "fbgemm_linear_int8_weight fbgemm_linear_int8_weight_fp32_activation": (
        lambda: (rand(2, 3), *_fbgemm(4, 3), rand(4)),
    ),
    "quantized_lstm_cell": (lambda: (rand(2, 4), [rand(2, 4), rand(2, 4)], *_quantized_cell(4)),),
    "quantized_gru_cell": (lambda: (rand(2, 4), rand(2, 4), *_quantized_cell(3)),),
    "quantized_rnn_relu_cell quantized_rnn_tanh_cell": (
        lambda: (rand(2, 4), rand(2, 4), *_quantized_cell(1)),
    ),
    "mkldnn_convolution": (lambda: (*_convolution(2), None, [0, 0], [1, 1], [1, 1], 1),),
    "mkldnn_max_pool3d": (lambda: (rand(1, 2, 4, 4, 4).to_mkldnn(), [2, 2, 2]),),
    "mkldnn_linear_backward_weights": (
        lambda: (*(rand(n, m).to_mkldnn() for n, m in ((2, 4), (2, 3), (4, 3))), True),
    ),
    "mkldnn_reorder_conv2d_weight": (
        lambda: (rand(3, 2, 2, 2).to_mkldnn(), [0, 0], [1, 1], [1, 1], 1),
    ),
    "mkldnn_reorder_conv3d_weight": (
        lambda: (rand(3, 2, 2, 2, 2).to_mkldnn(), [0] * 3, [1] * 3, [1] * 3, 1),
    ),
}


def _by_name() -> Iterator[tuple[str, tuple[Recipe, ...]]]:
    for names, recipes in _KINDS.items():
        for name in names.split():
            yield name, recipes


RECIPES: dict[str, tuple[Recipe, ...]] = dict(_by_name())
