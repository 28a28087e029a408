# Target trommel_cargo builds both libraries in TROMMEL_LIBRARY_DIR. Targets trommel::trommel and trommel::static use
# them. With TROMMEL_RUNTIME_SHADERS, there is also the tool trommel::kernel.

option(TROMMEL_RUNTIME_SHADERS
    "Compile user-defined functions, in the library and with trommel-kernel. Builds shaderc, which takes minutes"
    OFF)
set(TROMMEL_CARGO_PROFILE release CACHE STRING "Cargo's profile")
mark_as_advanced(TROMMEL_CARGO_PROFILE)

find_program(CARGO cargo HINTS "$ENV{CARGO_HOME}/bin" "$ENV{HOME}/.cargo/bin" REQUIRED)
find_program(RUSTC rustc HINTS "$ENV{CARGO_HOME}/bin" "$ENV{HOME}/.cargo/bin" REQUIRED)

if(DEFINED ENV{CARGO_TARGET_DIR})
    set(TROMMEL_CARGO_DIR "$ENV{CARGO_TARGET_DIR}" CACHE PATH "Cargo's target folder")
else()
    set(TROMMEL_CARGO_DIR "${PROJECT_BINARY_DIR}/cargo" CACHE PATH "Cargo's target folder")
endif()

set(TROMMEL_LIBRARY_DIR "${PROJECT_BINARY_DIR}/lib")
# Before 1.0 a minor version may change the ABI, so it is part of the SONAME.
if(PROJECT_VERSION_MAJOR EQUAL 0)
    set(TROMMEL_SONAME "libtrommel.so.0.${PROJECT_VERSION_MINOR}")
else()
    set(TROMMEL_SONAME "libtrommel.so.${PROJECT_VERSION_MAJOR}")
endif()
set(TROMMEL_SHARED "libtrommel.so.${PROJECT_VERSION}")
set(TROMMEL_STATIC "libtrommel.a")

set(TROMMEL_CARGO_OPTIONS --profile "${TROMMEL_CARGO_PROFILE}" --locked --package trommel)
if(TROMMEL_RUNTIME_SHADERS)
    list(APPEND TROMMEL_CARGO_OPTIONS --features runtime-shaders)
endif()
# The folder of the dev profile is debug.
if(TROMMEL_CARGO_PROFILE STREQUAL "dev")
    set(TROMMEL_CARGO_OUTPUT "${TROMMEL_CARGO_DIR}/debug")
else()
    set(TROMMEL_CARGO_OUTPUT "${TROMMEL_CARGO_DIR}/${TROMMEL_CARGO_PROFILE}")
endif()

# Cargo decides what to rebuild, so it always runs. The libraries are copied out of its folder at once: another build
# there may replace them by one without the SONAME.
add_custom_target(trommel_cargo ALL
    COMMAND "${CMAKE_COMMAND}" -E env "CARGO_TARGET_DIR=${TROMMEL_CARGO_DIR}"
        "${CARGO}" rustc ${TROMMEL_CARGO_OPTIONS} --lib --crate-type cdylib,staticlib
        -- -C "link-arg=-Wl,-soname,${TROMMEL_SONAME}"
    COMMAND "${CMAKE_COMMAND}" -E make_directory "${TROMMEL_LIBRARY_DIR}"
    COMMAND "${CMAKE_COMMAND}" -E copy_if_different
        "${TROMMEL_CARGO_OUTPUT}/libtrommel.so" "${TROMMEL_LIBRARY_DIR}/${TROMMEL_SHARED}"
    COMMAND "${CMAKE_COMMAND}" -E copy_if_different
        "${TROMMEL_CARGO_OUTPUT}/libtrommel.a" "${TROMMEL_LIBRARY_DIR}/${TROMMEL_STATIC}"
    COMMAND "${CMAKE_COMMAND}" -E create_symlink "${TROMMEL_SHARED}" "${TROMMEL_LIBRARY_DIR}/${TROMMEL_SONAME}"
    COMMAND "${CMAKE_COMMAND}" -E create_symlink "${TROMMEL_SONAME}" "${TROMMEL_LIBRARY_DIR}/libtrommel.so"
    BYPRODUCTS "${TROMMEL_LIBRARY_DIR}/${TROMMEL_SHARED}" "${TROMMEL_LIBRARY_DIR}/${TROMMEL_STATIC}"
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
    COMMENT "Building trommel with cargo"
    USES_TERMINAL VERBATIM)

# Finds the system libraries that a static library of Rust needs. trommel adds none: it calls Vulkan through pointers.
execute_process(
    COMMAND "${RUSTC}" --crate-type staticlib --print native-static-libs -o "${CMAKE_CURRENT_BINARY_DIR}/empty.a" -
    INPUT_FILE "${CMAKE_CURRENT_LIST_DIR}/empty.rs"
    ERROR_VARIABLE native COMMAND_ERROR_IS_FATAL ANY)
if(NOT native MATCHES "native-static-libs: ([^\n]*)")
    message(FATAL_ERROR "rustc names no native libraries: ${native}")
endif()
string(STRIP "${CMAKE_MATCH_1}" TROMMEL_NATIVE_FLAGS)
if(TROMMEL_RUNTIME_SHADERS)
    # The C++ runtime of shaderc.
    string(PREPEND TROMMEL_NATIVE_FLAGS "-lstdc++ ")
endif()
string(REPLACE " " ";" TROMMEL_NATIVE_LIBRARIES "${TROMMEL_NATIVE_FLAGS}")

# Targets for add_subdirectory.
add_library(trommel::trommel SHARED IMPORTED GLOBAL)
set_target_properties(trommel::trommel PROPERTIES
    IMPORTED_LOCATION "${TROMMEL_LIBRARY_DIR}/${TROMMEL_SHARED}"
    IMPORTED_SONAME "${TROMMEL_SONAME}"
    INTERFACE_INCLUDE_DIRECTORIES "${PROJECT_SOURCE_DIR}/include")
add_library(trommel::static STATIC IMPORTED GLOBAL)
set_target_properties(trommel::static PROPERTIES
    IMPORTED_LOCATION "${TROMMEL_LIBRARY_DIR}/${TROMMEL_STATIC}"
    INTERFACE_INCLUDE_DIRECTORIES "${PROJECT_SOURCE_DIR}/include"
    INTERFACE_LINK_LIBRARIES "${TROMMEL_NATIVE_LIBRARIES}")
add_dependencies(trommel::trommel trommel_cargo)
add_dependencies(trommel::static trommel_cargo)

if(TROMMEL_RUNTIME_SHADERS)
    set(TROMMEL_KERNEL_TOOL "${PROJECT_BINARY_DIR}/bin/trommel-kernel")
    add_custom_target(trommel_kernel_tool ALL
        COMMAND "${CMAKE_COMMAND}" -E env "CARGO_TARGET_DIR=${TROMMEL_CARGO_DIR}"
            "${CARGO}" build ${TROMMEL_CARGO_OPTIONS} --bin trommel-kernel
        COMMAND "${CMAKE_COMMAND}" -E make_directory "${PROJECT_BINARY_DIR}/bin"
        COMMAND "${CMAKE_COMMAND}" -E copy_if_different
            "${TROMMEL_CARGO_OUTPUT}/trommel-kernel" "${TROMMEL_KERNEL_TOOL}"
        BYPRODUCTS "${TROMMEL_KERNEL_TOOL}"
        WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
        COMMENT "Building trommel-kernel with cargo"
        USES_TERMINAL VERBATIM)
    # Runs after the other cargo, not concurrently.
    add_dependencies(trommel_kernel_tool trommel_cargo)
    add_executable(trommel::kernel IMPORTED GLOBAL)
    set_target_properties(trommel::kernel PROPERTIES IMPORTED_LOCATION "${TROMMEL_KERNEL_TOOL}")
    add_dependencies(trommel::kernel trommel_kernel_tool)
endif()
include("${CMAKE_CURRENT_LIST_DIR}/trommelKernel.cmake")
