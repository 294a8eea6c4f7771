// What the host's own sources share about texts.

#pragma once

#include <string>

namespace opbind::host::detail {

/// Whether Python can decode the text. Needs the GIL; leaves no error set.
bool is_utf8(const std::string& text) noexcept;

/// The text with each byte that is no UTF-8 replaced by U+FFFD. Needs the GIL.
std::string to_utf8(const std::string& text);

}  // namespace opbind::host::detail
