#include "foreign.h"

namespace foreign {

void fail(const std::string& kind) {
  if (kind == "error") throw Error{"no std::exception"};
  if (kind == "timeout") throw Timeout("too late");
  if (kind == "unlisted") throw Unlisted("not listed");
  throw Error{kind};
}

}  // namespace foreign
