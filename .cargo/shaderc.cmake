# CMake's toolchain file for the sources of shaderc, which the crate shaderc-sys builds. Cargo passes its path
# (config.toml).
#
# The crate asks CMake for a Release build of all targets, whatever the profile says. The compiler makes the same
# modules with this file and without it.

# The profile's own `opt-level`. Release builds keep CMake's -O3.
if("$ENV{OPT_LEVEL}" MATCHES "^[012]$")
  foreach(language IN ITEMS C CXX)
    set(CMAKE_${language}_FLAGS_RELEASE "-O$ENV{OPT_LEVEL} -DNDEBUG" CACHE STRING "Flags of the profile")
  endforeach()
endif()

function(shaderc_build_faster)
  # The crate links libshaderc_combined.a. The other targets are installed beside it, so they must exist. They may be
  # empty.
  set(empty "${CMAKE_BINARY_DIR}/empty.cpp")
  file(WRITE "${empty}" "int main() { return 0; }\n")
  foreach(target IN ITEMS SPIRV-Tools-shared SPIRV-Tools-reduce SPIRV-Tools-link SPIRV-Tools-lint SPIRV-Tools-diff
          shaderc_shared glslc glslc_exe)
    # CMake reads this file for its trial compilations, too, which have no such targets.
    if(TARGET ${target})
      set_property(TARGET ${target} PROPERTY SOURCES "${empty}")
    endif()
  endforeach()
  # Most of the time goes into headers. SPIRV-Tools has these for Visual Studio.
  if(TARGET SPIRV-Tools-opt)
    set(sources "${CMAKE_SOURCE_DIR}/spirv-tools/source")
    target_precompile_headers(SPIRV-Tools-static PRIVATE "${sources}/pch_source.h")
    target_precompile_headers(SPIRV-Tools-opt PRIVATE "${sources}/opt/pch_source_opt.h")
  endif()
endfunction()

cmake_language(DEFER DIRECTORY "${CMAKE_SOURCE_DIR}" CALL shaderc_build_faster)
