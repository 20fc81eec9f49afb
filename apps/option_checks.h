// option_checks — what the value of an option must be: exactly that, and a short refusal of all else.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>

namespace manyspan::app {

// Decimal digits that are a whole number within these bounds.
CLI::Validator whole_number(std::uint64_t least, std::uint64_t most);

// A finite decimal number within these bounds.
CLI::Validator decimal_number(double least, double most);

// A name or a list that says something.
CLI::Validator not_empty();

}  // namespace manyspan::app
