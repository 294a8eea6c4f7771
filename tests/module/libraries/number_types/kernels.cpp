// Kernels of ops that show what reaches them.
#include <ATen/core/Tensor.h>
#include <ATen/ops/add_ops.h>
#include <ATen/ops/empty_like_ops.h>

#include <numeric>

#include "number_types_kernels.h"

namespace {

at::Tensor plus(const at::Tensor& self, const at::Scalar& number) {
  return at::_ops::add_Scalar::call(self, number, 1);
}

at::Tensor like(const at::Tensor& self) {
  return at::_ops::empty_like::call(self, {}, {}, {}, {}, {});
}

}  // namespace

c10::SymInt number_types::sym_int(c10::SymInt n) { return n; }

std::tuple<bool, c10::SymInt> number_types::sym_int_optional(std::optional<c10::SymInt> n) {
  return {n.has_value(), n.value_or(0)};
}

std::vector<c10::SymInt> number_types::sym_ints(c10::SymIntArrayRef n) { return n.vec(); }

std::tuple<std::vector<c10::SymInt>, std::vector<c10::SymInt>> number_types::two_sym_ints(
    c10::SymIntArrayRef n, at::OptionalSymIntArrayRef more) {
  return {n.vec(), more.has_value() ? more->vec() : std::vector<c10::SymInt>()};
}

int64_t number_types::device_index(at::DeviceIndex index) { return index; }

std::tuple<bool, int64_t> number_types::device_index_optional(
    std::optional<at::DeviceIndex> index) {
  return {index.has_value(), index.value_or(0)};
}

c10::SymBool number_types::sym_bool(c10::SymBool b) { return b; }

std::tuple<bool, c10::SymBool> number_types::sym_bool_optional(std::optional<c10::SymBool> b) {
  return {b.has_value(), b.value_or(false)};
}

std::vector<double> number_types::floats(at::ArrayRef<double> x) { return x.vec(); }

std::tuple<bool, std::vector<double>> number_types::floats_optional(
    std::optional<at::ArrayRef<double>> x) {
  return {x.has_value(), x.has_value() ? x->vec() : std::vector<double>()};
}

std::tuple<bool, bool, bool> number_types::three_bools(std::array<bool, 3> mask) {
  return {mask[0], mask[1], mask[2]};
}

std::tuple<bool, bool, bool> number_types::two_bools_optional(
    std::optional<std::array<bool, 2>> mask) {
  return {mask.has_value(), mask.has_value() && (*mask)[0], mask.has_value() && (*mask)[1]};
}

at::Scalar number_types::scalar(const at::Scalar& s) { return s; }

std::tuple<int64_t, at::Scalar, at::Scalar> number_types::scalars(at::ArrayRef<at::Scalar> s) {
  const auto count = static_cast<int64_t>(s.size());
  return {count, s.empty() ? at::Scalar(0) : s.front(), s.empty() ? at::Scalar(0) : s.back()};
}

std::tuple<bool, int64_t> number_types::scalars_optional(
    std::optional<at::ArrayRef<at::Scalar>> s) {
  return {s.has_value(), s.has_value() ? static_cast<int64_t>(s->size()) : 0};
}

c10::complex<double> number_types::complex_number(c10::complex<double> z) { return z; }

std::tuple<bool, c10::complex<double>> number_types::complex_optional(
    std::optional<c10::complex<double>> z) {
  return {z.has_value(), z.value_or(0)};
}

std::vector<std::vector<int64_t>> number_types::int_lists(
    const std::vector<std::vector<int64_t>>& lists) {
  return lists;
}

std::string number_types::which_ints(at::IntArrayRef /*x*/) { return "ints"; }
std::string number_types::which_bools(std::array<bool, 2> /*x*/) { return "bools"; }
std::string number_types::which_floats(at::ArrayRef<double> /*x*/) { return "floats"; }
std::string number_types::which_scalars(at::ArrayRef<at::Scalar> /*x*/) { return "scalars"; }
std::string number_types::which_lists(const std::vector<std::vector<int64_t>>& /*x*/) {
  return "lists";
}

at::Tensor number_types::add_int(const at::Tensor& self, int64_t n) { return plus(self, n); }
at::Tensor number_types::add_int_meta(const at::Tensor& self, int64_t /*n*/) { return like(self); }

at::Tensor number_types::add_ints(const at::Tensor& self, at::IntArrayRef n) {
  return plus(self, std::accumulate(n.begin(), n.end(), int64_t{0}));
}
at::Tensor number_types::add_ints_meta(const at::Tensor& self, at::IntArrayRef /*n*/) {
  return like(self);
}

at::Tensor number_types::add_sym_int(const at::Tensor& self, c10::SymInt n) {
  return plus(self, n.guard_int(__FILE__, __LINE__));
}
at::Tensor number_types::add_sym_int_meta(const at::Tensor& self, c10::SymInt /*n*/) {
  return like(self);
}

at::Tensor number_types::add_sym_ints(const at::Tensor& self, c10::SymIntArrayRef n) {
  int64_t sum = 0;
  for (const c10::SymInt& one : n) sum += one.guard_int(__FILE__, __LINE__);
  return plus(self, sum);
}
at::Tensor number_types::add_sym_ints_meta(const at::Tensor& self, c10::SymIntArrayRef /*n*/) {
  return like(self);
}

at::Tensor number_types::add_scalar(const at::Tensor& self, const at::Scalar& n) {
  return plus(self, n);
}
at::Tensor number_types::add_scalar_meta(const at::Tensor& self, const at::Scalar& /*n*/) {
  return like(self);
}

at::Tensor number_types::add_if(const at::Tensor& self, c10::SymBool condition) {
  return plus(self, condition.guard_bool(__FILE__, __LINE__) ? 1 : 0);
}
at::Tensor number_types::add_if_meta(const at::Tensor& self, c10::SymBool /*condition*/) {
  return like(self);
}

std::tuple<c10::SymInt, std::vector<c10::SymInt>, at::Scalar, c10::SymBool> number_types::sizes_of(
    const at::Tensor& self) {
  const c10::SymIntArrayRef sizes = self.sym_sizes();
  return {self.sym_numel(), sizes.vec(), at::Scalar(sizes.front()),
          sizes.front().sym_eq(sizes.back())};
}
