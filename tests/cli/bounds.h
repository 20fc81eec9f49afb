// bounds — runs the program as run() does, and holds it to what a refusal may cost: under a second and 64 MiB.
//
// Sanitizers take more than that for themselves, so under them the cost is only written to the test's report.
#pragma once

#include <string>
#include <vector>

#include "tests/cli/program.h"

namespace manyspan::tests {

Ran run_within_bounds(const std::vector<std::string>& arguments, const std::string& input = "");

// Notes the highest that any run of this test took.
void report_costs();

}  // namespace manyspan::tests
