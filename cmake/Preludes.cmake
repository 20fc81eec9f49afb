# Preludes: headers of the standard library and of others that most files of a kind include, compiled once.
#
# use_prelude(<target> <kind>) lets a target begin with the prelude of its kind: rooms, tests or apps. Both must
# be compiled with the same options, or the compiler refuses the prelude. A file still includes what it uses:
# rooms have a prelude only under sanitizers, so a release build shows what a file has forgotten.
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/prelude.cc CONTENT "")

# prelude(<kind> [OPTIONS <flags>...] [LINK <targets>...] HEADERS <headers>...)
function(prelude kind)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "OPTIONS;LINK;HEADERS")
  add_library(manyspan_${kind}_prelude OBJECT ${CMAKE_BINARY_DIR}/prelude.cc)
  target_compile_options(manyspan_${kind}_prelude PRIVATE ${arg_OPTIONS})
  target_link_libraries(manyspan_${kind}_prelude PRIVATE ${arg_LINK})
  target_precompile_headers(manyspan_${kind}_prelude PRIVATE ${arg_HEADERS})
endfunction()

set(standard_headers <algorithm> <array> <charconv> <cmath> <cstdint> <cstring> <functional> <map> <memory> <optional>
    <span> <string> <string_view> <utility> <vector>)
if(MANYSPAN_SANITIZED)
  prelude(rooms OPTIONS ${MANYSPAN_WARNINGS} HEADERS ${standard_headers})
endif()
prelude(tests OPTIONS ${MANYSPAN_WARNINGS} ${MANYSPAN_LIGHT_OPTIONS} LINK GTest::gtest nlohmann_json::nlohmann_json
        HEADERS ${standard_headers} <filesystem> <fstream> <gtest/gtest.h> <nlohmann/json.hpp>)
find_package(CLI11 REQUIRED)
find_package(fmt REQUIRED)
prelude(apps OPTIONS ${MANYSPAN_WARNINGS} ${MANYSPAN_LIGHT_OPTIONS} LINK CLI11::CLI11 fmt::fmt
        HEADERS ${standard_headers} <CLI/CLI.hpp> <fmt/core.h> <fmt/ranges.h>)

function(use_prelude target kind)
  if(TARGET manyspan_${kind}_prelude)
    target_precompile_headers(${target} REUSE_FROM manyspan_${kind}_prelude)
  endif()
endfunction()
