// echo/signatures.h: whether a table read from text is the one that was generated.
#pragma once

#include <span>
#include <string_view>

#include "core/signature.h"

/// A generated table, and its signatures as text.
struct Pair {
  const opbind::FunctionSignatures* generated;
  std::span<const std::string_view> texts;
};

/// All there are; signature_pairs.py writes them.
std::span<const Pair> pairs();
