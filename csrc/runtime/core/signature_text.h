// core/signature_text.h: tables of signatures read from text, for hand-written bindings.
//
// The text is what people read in docs and errors, and much like what torch's own parser is given:
//
//   add(Tensor input, Tensor other, *, Scalar alpha=1, Tensor? out=None) -> Tensor
//
// What generated tables hold beyond that is written after a '|', and shown to nobody:
//
//   Tensor|Scalar other          a number may stand for the tensor
//   int[1]? dim|axis|axes=None   further names
//   ScalarType dtype=long|None   None is taken and means the default
//   … -> Tensor|deprecated       warns, and is not proposed; it stands last
//
// The returns are for readers alone; they may be left out. Where the signature's only positional
// argument, beside a leading `Tensor self`, is an `int[]`, its ints may be given one by one.
#pragma once

#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/signature.h"

namespace opbind {

/// The signatures of one function, with storage of their own: the tables stay where they are.
class SignatureTables {
 public:
  /// `texts` are in the order in which they are tried. Throws std::invalid_argument that names the
  /// signature, the column and the remedy, or python_error. Needs the GIL: the host looks up what
  /// the names of dtypes stand for.
  explicit SignatureTables(std::span<const std::string_view> texts);
  SignatureTables(const SignatureTables&) = delete;
  SignatureTables& operator=(const SignatureTables&) = delete;

  const FunctionSignatures& function() const { return function_; }

 private:
  friend class SignatureReader;

  std::deque<std::string> strings_;
  std::deque<std::vector<int64_t>> ints_;
  std::deque<std::vector<double>> doubles_;
  std::deque<std::vector<FunctionParameter>> parameters_;
  std::vector<FunctionSignature> signatures_;
  FunctionSignatures function_;
};

}  // namespace opbind
