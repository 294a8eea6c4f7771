// nms: greedy suppression of boxes (x1, y1, x2, y2) that overlap one with a higher score.

#include <ATen/Dispatch.h>
#include <ATen/OpMathType.h>
#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "checks.h"
#include "demo_ops_kernels.h"

namespace {

void check(const at::Tensor& boxes, const at::Tensor& scores, double iou_threshold) {
  demo::detail::check_floating("nms", "boxes", boxes);
  demo::detail::check_same_dtype("nms", "scores", scores, boxes);
  TORCH_CHECK_VALUE(boxes.dim() == 2 && boxes.size(1) == 4,
                    "nms: boxes must have shape [N, 4], not ", boxes.sizes());
  TORCH_CHECK_VALUE(scores.dim() == 1 && scores.size(0) == boxes.size(0),
                    "nms: scores must have shape [", boxes.size(0), "], as there are ",
                    boxes.size(0), " boxes, not ", scores.sizes());
  TORCH_CHECK_VALUE(!std::isnan(iou_threshold), "nms: iou_threshold must be a number, not nan");
}

template <class T>
struct Box {
  T x1, y1, x2, y2, area;
};

template <class scalar_t, class T = at::opmath_type<scalar_t>>
std::vector<Box<T>> read_boxes(const scalar_t* data, int64_t count) {
  std::vector<Box<T>> boxes;
  boxes.reserve(static_cast<std::size_t>(count));
  for (const scalar_t* row = data; row != data + 4 * count; row += 4) {
    const T x1 = row[0], y1 = row[1], x2 = row[2], y2 = row[3];
    boxes.push_back({x1, y1, x2, y2, (x2 - x1) * (y2 - y1)});
  }
  return boxes;
}

template <class T>
T intersection_over_union(const Box<T>& a, const Box<T>& b) {
  const T width = std::max<T>(0, std::min(a.x2, b.x2) - std::max(a.x1, b.x1));
  const T height = std::max<T>(0, std::min(a.y2, b.y2) - std::max(a.y1, b.y1));
  const T intersection = width * height;
  return intersection / (a.area + b.area - intersection);
}

// The indices that stay, in the order of `order`.
template <class T>
std::vector<int64_t> select(const std::vector<Box<T>>& boxes, const int64_t* order,
                            double iou_threshold) {
  std::vector<bool> suppressed(boxes.size(), false);
  std::vector<int64_t> kept;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    if (suppressed[i]) continue;
    kept.push_back(order[i]);
    const Box<T>& winner = boxes[static_cast<std::size_t>(order[i])];
    for (std::size_t j = i + 1; j < boxes.size(); ++j) {
      const Box<T>& other = boxes[static_cast<std::size_t>(order[j])];
      if (intersection_over_union(winner, other) > iou_threshold) suppressed[j] = true;
    }
  }
  return kept;
}

}  // namespace

at::Tensor demo::nms_cpu(const at::Tensor& boxes, const at::Tensor& scores, double iou_threshold) {
  check(boxes, scores, iou_threshold);
  const auto by_score = std::get<1>(scores.sort(/*stable=*/true, /*dim=*/0, /*descending=*/true));
  const auto rows = boxes.expect_contiguous();
  std::vector<int64_t> kept;
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, boxes.scalar_type(), "nms", [&] {
    kept = select(read_boxes(rows->const_data_ptr<scalar_t>(), rows->size(0)),
                  by_score.const_data_ptr<int64_t>(), iou_threshold);
  });
  at::Tensor result = by_score.new_empty({static_cast<int64_t>(kept.size())});
  std::copy(kept.begin(), kept.end(), result.mutable_data_ptr<int64_t>());
  return result;
}
