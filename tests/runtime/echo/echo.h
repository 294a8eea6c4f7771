// echo/echo.h: what the kernels of the echo library do with an argument: show it as text, or give
// it back.
//
// A new type of argument needs a show() of its own; a new type of result may need a give().
#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "host.h"

namespace echo::detail {

// ------------------------------------------------------------------------------------------- show
// Exact: two values have one text only if they are equal to the last bit, NaNs aside.

// A template, since anything converts to bool.
template <class Bool>
  requires std::is_same_v<Bool, bool>
std::string show(Bool value) {
  return value ? "True" : "False";
}

inline std::string show(int64_t value) { return std::to_string(value); }
inline std::string show(uint64_t value) { return std::to_string(value); }
inline std::string show(at::DeviceIndex value) { return std::to_string(value); }

/// The shortest text that reads back as the same number; without a point where it is whole.
inline std::string show(double value) {
  std::array<char, 32> text = {};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end.ptr};
}

inline std::string show(opbind::host::Complex value) {
  return show(value.real()) + " + " + show(value.imag()) + "j";
}

/// A symbol by its name.
inline std::string show(const c10::SymInt& value) {
  return value.symbol.empty() ? show(value.value) : value.symbol;
}
inline std::string show(const c10::SymBool& value) {
  return value.symbol.empty() ? show(value.value) : value.symbol;
}

/// In quotes, so that None and 'None' differ.
inline std::string show(std::string_view text) { return "'" + std::string(text) + "'"; }

/// "int 5": which alternative it holds is a part of its value.
inline std::string show(const at::Scalar& scalar) {
  constexpr const char* kKinds[] = {"bool", "int", "unsigned", "float", "complex"};
  const auto text = std::visit([](auto value) { return show(value); }, scalar.value());
  return std::string(kKinds[scalar.value().index()]) + " " + text;
}

inline std::string show(const at::Tensor& tensor) {
  return tensor.defined() ? "tensor of " + show(tensor.impl()->value) : "undefined tensor";
}

inline std::string show(at::ScalarType dtype) { return opbind::host::name_of(dtype); }
inline std::string show(at::Layout layout) { return opbind::host::name_of(layout); }
inline std::string show(at::MemoryFormat format) { return opbind::host::name_of(format); }
inline std::string show(at::QScheme qscheme) { return opbind::host::name_of(qscheme); }
inline std::string show(at::Device device) { return opbind::host::name_of(device); }

inline std::string show(at::Generator value) { return "generator " + show(value.number); }
inline std::string show(at::Storage value) { return "storage " + show(value.number); }
inline std::string show(at::Stream value) { return "stream " + show(value.number); }

// Elements may be lists, or None.
template <class T>
std::string show(const std::vector<T>& elements);
template <class T>
std::string show(const std::optional<T>& value);

template <class Elements>
std::string show_elements(const Elements& elements) {
  std::string text = "[";
  for (const auto& element : elements) {
    text += (text.size() == 1 ? "" : ", ") + show(element);
  }
  return text + "]";
}
template <class T>
std::string show(std::span<T> elements) {
  return show_elements(elements);
}
template <class T>
std::string show(const std::vector<T>& elements) {
  return show_elements(elements);
}
template <class T, std::size_t N>
std::string show(const std::array<T, N>& elements) {
  return show_elements(elements);
}

template <class T>
std::string show(const std::optional<T>& value) {
  return value.has_value() ? show(*value) : "None";
}

/// "a=1, b=[2]"
using Named = std::pair<const char*, std::string>;
inline std::string show_all(std::initializer_list<Named> arguments) {
  std::string text;
  for (const auto& [name, value] : arguments) {
    text += (text.empty() ? "" : ", ") + std::string(name) + "=" + value;
  }
  return text;
}

// ------------------------------------------------------------------------------------------- give

/// An argument as the result of a kernel: Result is the type that a kernel returns for it.
template <class Result, class Argument>
struct Give {
  static Result from(Argument& argument) {
    if constexpr (std::is_convertible_v<Argument&, Result>) {
      return argument;
    } else if constexpr (std::is_constructible_v<Result, Argument&>) {
      return Result(argument);
    } else {
      return Result(argument.begin(), argument.end());
    }
  }
};

template <class Element, class Argument>
struct Give<std::optional<std::vector<Element>>, Argument> {
  static std::optional<std::vector<Element>> from(Argument& argument) {
    if (!argument.has_value()) return std::nullopt;
    return std::vector<Element>(argument->begin(), argument->end());
  }
};

template <class Result, class Argument>
Result give(Argument& argument) {
  return Give<Result, Argument>::from(argument);
}

template <class... Results, class... Arguments>
std::tuple<Results...> give_tuple(std::type_identity<std::tuple<Results...>>,
                                  Arguments&... arguments) {
  return std::tuple<Results...>(give<Results>(arguments)...);
}

/// Several arguments as a tuple of results.
template <class Result, class First, class Second, class... More>
Result give(First& first, Second& second, More&... more) {
  return give_tuple(std::type_identity<Result>(), first, second, more...);
}

}  // namespace echo::detail
