// core/runtime.h: all of the core, in order; what generated code includes.
#pragma once

// Each header includes only earlier ones.
// clang-format off
#include "core/python.h"
#include "core/ref.h"
#include "core/small_buffer.h"
#include "core/gil.h"
#include "core/error.h"
#include "core/signature.h"
#include "core/convert.h"
#include "core/numbers.h"
#include "core/signature_text.h"
#include "core/arg_parser.h"
#include "core/torch_function.h"
#include "core/wrap.h"
#include "core/dispatch.h"
// clang-format on
