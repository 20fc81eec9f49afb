# Fails, naming each, when an object that is compiled for one instruction set holds a weak symbol outside that
# set's namespace: the linker may keep such a symbol for every caller, also on machines without the instructions.
# Usage: cmake -DISA=<isa> -DNM=<nm> -DOBJECTS=<objects> -P CheckIsaObjects.cmake
cmake_minimum_required(VERSION 3.25)
set(strays "")
foreach(object ${OBJECTS})
  execute_process(COMMAND ${NM} --demangle --defined-only ${object}
                  OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[^\n]+ [VWu] [^\n]+" weak "${symbols}")
  foreach(symbol ${weak})
    if(NOT symbol MATCHES "::${ISA}::")
      string(APPEND strays "\n  ${object}\n    ${symbol}")
    endif()
  endforeach()
endforeach()
if(strays)
  message(FATAL_ERROR "weak symbols outside namespace ${ISA}:${strays}")
endif()
