# trommel_add_kernel(TARGET FUNCTION.glsl [FUNCTION trm_bucket] [FOR sorter] [KEY u32] [OUTPUT KERNEL.spv])
#
# Compiles a user-defined function to a kernel, each time the function changes. FUNCTION is trm_bucket (the default), a
# bucket function for trmCreateSplitterFromSpirv(), or trm_less, a comparator for trmCreateMergerFromSpirv(). With FOR
# sorter, a comparator is for trmCreateSorterFromSpirv(). KEY is u32 (the default), i32, f32, u64, i64, f64, u32x2,
# u32x3 or u32x4. The kernel is written to the build folder, as TARGET.spv unless OUTPUT names another file. The
# target's property TROMMEL_KERNEL is its path.
#
# Needs a package that was built with TROMMEL_RUNTIME_SHADERS. The kernel works with libraries of the same version,
# built with or without TROMMEL_RUNTIME_SHADERS.
function(trommel_add_kernel target function)
    cmake_parse_arguments(PARSE_ARGV 2 kernel "" "FUNCTION;FOR;KEY;OUTPUT" "")
    if(kernel_UNPARSED_ARGUMENTS OR kernel_KEYWORDS_MISSING_VALUES)
        message(FATAL_ERROR
            "trommel_add_kernel(TARGET FUNCTION.glsl [FUNCTION trm_bucket] [FOR sorter] [KEY u32] [OUTPUT KERNEL.spv])")
    endif()
    if(NOT TARGET trommel::kernel)
        message(FATAL_ERROR "trommel was built without TROMMEL_RUNTIME_SHADERS: it has no trommel-kernel")
    endif()
    if(NOT kernel_FUNCTION)
        set(kernel_FUNCTION trm_bucket)
    endif()
    set(handle)
    if(kernel_FOR)
        set(handle --for "${kernel_FOR}")
    endif()
    if(NOT kernel_KEY)
        set(kernel_KEY u32)
    endif()
    if(NOT kernel_OUTPUT)
        set(kernel_OUTPUT "${target}.spv")
    endif()
    get_filename_component(function "${function}" ABSOLUTE)
    get_filename_component(output "${kernel_OUTPUT}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_BINARY_DIR}")
    get_filename_component(folder "${output}" DIRECTORY)
    file(MAKE_DIRECTORY "${folder}")
    add_custom_command(OUTPUT "${output}"
        COMMAND trommel::kernel "${function}" -o "${output}"
            --function "${kernel_FUNCTION}" ${handle} --key "${kernel_KEY}"
        DEPENDS "${function}" trommel::kernel
        COMMENT "Compiling ${target}"
        VERBATIM)
    add_custom_target("${target}" ALL DEPENDS "${output}")
    set_target_properties("${target}" PROPERTIES TROMMEL_KERNEL "${output}")
endfunction()
