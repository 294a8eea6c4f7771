// linked/foreign.h: a library that knows nothing of Python, linked by the kernels. It is compiled
// with hidden visibility, so that the type information of its exceptions is in each binary anew.
#pragma once

#include <stdexcept>
#include <string>

namespace foreign {

struct Error {
  std::string text;
};

struct Timeout : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// What only the library itself can name.
struct Unlisted : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Throws the exception of that name.
[[gnu::visibility("default")]] void fail(const std::string& kind);

}  // namespace foreign
