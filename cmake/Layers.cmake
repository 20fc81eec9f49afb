# layer(<name> [USES <lower layers>...])
#
# Declares one floor of the house from the folder src/<name>. A file's role is read from its name, so
# adding a file never edits the build:
#
#   *.h  *.cc     the layer's library, manyspan::<name>
#   *_cpu.cc      compiled once for every instruction set of MANYSPAN_ISAS, in namespace <isa>
#   *.cu  *.cuh   the same for GPUs, compiled as CUDA or HIP; left out when MANYSPAN_GPU=none
#   *_test.cc     one test program per layer, <name>_test, which links this layer and nothing above it
#   *_bench.cc    one benchmark program per layer, <name>_bench
#
# A test suite whose name ends in Slow is registered apart, under the label `slow`; all others are `fast`.
#
# Direction is enforced three times: here (a layer must be declared before it is used), at build time
# (check_<name> reads every #include), and at link time (each <name>_test links alone).

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
add_compile_options(-ffp-contract=off)
set(MANYSPAN_WARNINGS -Wall -Wextra -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  list(APPEND MANYSPAN_WARNINGS -Wno-restrict)  # g++ 12 sees overlaps in `"text" + std::string` that are not there
endif()
set(CMAKE_VERIFY_INTERFACE_HEADER_SETS ON)
find_package(GTest REQUIRED)
find_package(benchmark REQUIRED)
find_package(Threads REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(ZLIB REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
pkg_check_modules(utf8proc REQUIRED IMPORTED_TARGET libutf8proc)
pkg_check_modules(pcre2 REQUIRED IMPORTED_TARGET libpcre2-8)

# The third-party library behind a layer's thin door; linked only into that layer's own objects.
set(MANYSPAN_LIBRARIES_base nlohmann_json::nlohmann_json)
set(MANYSPAN_LIBRARIES_device Threads::Threads)
set(MANYSPAN_LIBRARIES_verify OpenSSL::Crypto Threads::Threads)
set(MANYSPAN_LIBRARIES_text PkgConfig::utf8proc)

# What a layer's tests and benchmarks alone need: judges to compare with, and readers of packed fixtures.
set(MANYSPAN_TEST_LIBRARIES_text PkgConfig::pcre2 PkgConfig::utf8proc ZLIB::ZLIB)

# Instruction sets that *_cpu.cc files are compiled for, and how the compiler is told.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(MANYSPAN_ISAS generic avx2 avx512)
  set(MANYSPAN_ISA_FLAGS_generic "")
  set(MANYSPAN_ISA_FLAGS_avx2 -mavx2 -mfma -mf16c -mbmi2)
  set(MANYSPAN_ISA_FLAGS_avx512 -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx2 -mfma -mf16c -mbmi2)
else()
  set(MANYSPAN_ISAS generic)
  set(MANYSPAN_ISA_FLAGS_generic "")
endif()

# Programs and tests around the rooms do no heavy work of their own; optimising their templates would take longer
# than building all the rooms.
option(MANYSPAN_SANITIZED "This build runs under sanitizers" OFF)
set(MANYSPAN_LIGHT_OPTIONS -O1)
if(MANYSPAN_SANITIZED)
  add_compile_definitions(MANYSPAN_SANITIZED)
  set(MANYSPAN_LIGHT_OPTIONS -O0)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  list(APPEND MANYSPAN_LIGHT_OPTIONS -Wno-array-bounds -Wno-stringop-overflow)  # likewise
endif()

include(${CMAKE_CURRENT_LIST_DIR}/Preludes.cmake)

# Both vendors' compilers take a .cu file the same way; only their names and flags differ.
if(MANYSPAN_GPU STREQUAL cuda)
  set(MANYSPAN_GPU_ARCHITECTURES 90a CACHE STRING "Compute capabilities to build kernels for")
  find_package(CUDAToolkit REQUIRED)
  set(gpu_compiler ${CUDAToolkit_NVCC_EXECUTABLE} -O3 --expt-relaxed-constexpr)
  foreach(arch ${MANYSPAN_GPU_ARCHITECTURES})
    list(APPEND gpu_compiler -gencode=arch=compute_${arch},code=sm_${arch})
  endforeach()
  set(gpu_runtime CUDA::cudart_static)
elseif(MANYSPAN_GPU STREQUAL hip)
  set(MANYSPAN_GPU_ARCHITECTURES gfx942 CACHE STRING "AMD architectures to build kernels for")
  find_program(HIPCC hipcc REQUIRED)
  find_library(gpu_runtime amdhip64 REQUIRED)
  set(gpu_compiler ${HIPCC} -O3 -x hip)
  foreach(arch ${MANYSPAN_GPU_ARCHITECTURES})
    list(APPEND gpu_compiler --offload-arch=${arch})
  endforeach()
endif()

# Sets `out` to the objects that the GPU compiler makes of the sources that follow it.
function(gpu_objects out)
  foreach(source ${ARGN})
    string(MD5 name ${source})
    set(object ${CMAKE_CURRENT_BINARY_DIR}/gpu/${name}.o)
    add_custom_command(OUTPUT ${object} DEPENDS ${source} DEPFILE ${object}.d VERBATIM
      COMMAND ${gpu_compiler} -std=c++20 -DMANYSPAN_GPU_${MANYSPAN_GPU} -I${CMAKE_CURRENT_SOURCE_DIR}
              -MD -MF ${object}.d -c ${source} -o ${object}
      COMMENT "Compiling ${source} for ${MANYSPAN_GPU}")
    list(APPEND objects ${object})
  endforeach()
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/gpu)
  set(${out} ${objects} PARENT_SCOPE)
endfunction()

# Registers a GoogleTest program twice: its fast suites, and those whose name ends in Slow.
function(register_tests program)
  add_test(NAME ${program} COMMAND ${program} --gtest_filter=-*Slow.*)
  add_test(NAME ${program}_slow COMMAND ${program} --gtest_filter=*Slow.*)
  set_tests_properties(${program} PROPERTIES LABELS fast)
  set_tests_properties(${program}_slow PROPERTIES LABELS slow)
  # Under ASan, refusing a huge allocation is a result to test, not a reason to stop.
  set_tests_properties(${program} ${program}_slow PROPERTIES
    ENVIRONMENT "ASAN_OPTIONS=allocator_may_return_null=1;UBSAN_OPTIONS=print_stacktrace=1")
  target_compile_definitions(${program} PRIVATE
    MANYSPAN_SOURCE_DIR="${CMAKE_SOURCE_DIR}" MANYSPAN_FIXTURES="${MANYSPAN_FIXTURES}")
endfunction()

set(MANYSPAN_LAYER_TABLE ${CMAKE_BINARY_DIR}/layers.cmake)
file(WRITE ${MANYSPAN_LAYER_TABLE} "")
add_custom_target(check_layers ALL
  COMMAND ${CMAKE_COMMAND} -DTABLE=${MANYSPAN_LAYER_TABLE} -DROOT=${CMAKE_SOURCE_DIR}/src
          -P ${CMAKE_SOURCE_DIR}/cmake/CheckLayers.cmake
  VERBATIM)

function(layer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "USES")
  set(dir ${CMAKE_CURRENT_SOURCE_DIR}/${name})
  foreach(lower ${arg_USES})
    if(NOT TARGET manyspan::${lower})
      message(FATAL_ERROR "layer ${name} uses ${lower}, which is not below it")
    endif()
  endforeach()
  file(APPEND ${MANYSPAN_LAYER_TABLE} "list(APPEND LAYERS ${name})\nset(USES_${name} ${name} ${arg_USES})\n")
  add_custom_target(check_${name}
    COMMAND ${CMAKE_COMMAND} -DTABLE=${MANYSPAN_LAYER_TABLE} -DROOT=${CMAKE_SOURCE_DIR}/src -DONLY=${name}
            -P ${CMAKE_SOURCE_DIR}/cmake/CheckLayers.cmake
    VERBATIM)

  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${dir}/*.h)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${dir}/*.cc)
  file(GLOB_RECURSE gpu_sources CONFIGURE_DEPENDS ${dir}/*.cu)
  set(tests ${sources})
  set(benches ${sources})
  set(cpu_sources ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER benches INCLUDE REGEX "_bench\\.cc$")
  list(FILTER cpu_sources INCLUDE REGEX "_cpu\\.cc$")
  list(FILTER sources EXCLUDE REGEX "_(test|bench|cpu)\\.cc$")
  list(TRANSFORM arg_USES PREPEND manyspan::)

  set(objects "")
  if(gpu_compiler)
    gpu_objects(objects ${gpu_sources})
  endif()
  foreach(isa ${MANYSPAN_ISAS})
    if(cpu_sources)
      add_library(manyspan_${name}_${isa} OBJECT ${cpu_sources})
      target_compile_options(manyspan_${name}_${isa} PRIVATE ${MANYSPAN_WARNINGS} ${MANYSPAN_ISA_FLAGS_${isa}})
      target_compile_definitions(manyspan_${name}_${isa} PRIVATE MANYSPAN_ISA=${isa} MANYSPAN_ISA_${isa})
      target_include_directories(manyspan_${name}_${isa} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
      list(APPEND objects $<TARGET_OBJECTS:manyspan_${name}_${isa}>)
      add_dependencies(manyspan_${name}_${isa} check_${name})
      if(CMAKE_BUILD_TYPE STREQUAL Release)  # elsewhere small functions of shared headers are not inlined
        add_test(NAME ${name}_${isa}_keeps_to_itself
          COMMAND ${CMAKE_COMMAND} -DISA=${isa} -DNM=${CMAKE_NM}
                  "-DOBJECTS=$<TARGET_OBJECTS:manyspan_${name}_${isa}>"
                  -P ${CMAKE_SOURCE_DIR}/cmake/CheckIsaObjects.cmake)
        set_tests_properties(${name}_${isa}_keeps_to_itself PROPERTIES LABELS fast)
      endif()
    endif()
  endforeach()

  set(scope PUBLIC)
  if(sources OR objects)
    add_library(manyspan_${name} STATIC ${sources} ${objects})
    set_target_properties(manyspan_${name} PROPERTIES LINKER_LANGUAGE CXX)
    target_link_libraries(manyspan_${name} PUBLIC ${gpu_runtime})
    target_link_libraries(manyspan_${name} PRIVATE ${MANYSPAN_LIBRARIES_${name}})
    target_compile_options(manyspan_${name} PRIVATE ${MANYSPAN_WARNINGS})
    use_prelude(manyspan_${name} rooms)
  else()
    set(scope INTERFACE)
    add_library(manyspan_${name} INTERFACE)
  endif()
  add_library(manyspan::${name} ALIAS manyspan_${name})
  add_dependencies(manyspan_${name} check_${name})
  target_sources(manyspan_${name} ${scope} FILE_SET HEADERS BASE_DIRS ${CMAKE_CURRENT_SOURCE_DIR} FILES ${headers})
  target_compile_definitions(manyspan_${name} ${scope} MANYSPAN_GPU_${MANYSPAN_GPU})
  target_link_libraries(manyspan_${name} ${scope} ${arg_USES})

  if(tests)
    add_executable(${name}_test ${tests})
    set(whole manyspan_${name})
    if(scope STREQUAL PUBLIC)  # all of its objects, so that code which no test calls can't reach upstairs either
      set(whole $<LINK_LIBRARY:WHOLE_ARCHIVE,manyspan_${name}>)
    endif()
    target_link_libraries(${name}_test PRIVATE ${whole} GTest::gtest_main nlohmann_json::nlohmann_json
                          ${MANYSPAN_TEST_LIBRARIES_${name}})
    target_compile_options(${name}_test PRIVATE ${MANYSPAN_WARNINGS} ${MANYSPAN_LIGHT_OPTIONS})
    use_prelude(${name}_test tests)
    register_tests(${name}_test)
  endif()
  if(benches)
    add_executable(${name}_bench ${benches})
    target_link_libraries(${name}_bench PRIVATE manyspan::${name} benchmark::benchmark_main
                          ${MANYSPAN_TEST_LIBRARIES_${name}})
    target_compile_definitions(${name}_bench PRIVATE
      MANYSPAN_SOURCE_DIR="${CMAKE_SOURCE_DIR}" MANYSPAN_FIXTURES="${MANYSPAN_FIXTURES}")
  endif()
endfunction()
