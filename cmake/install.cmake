# The installed package: headers, libraries, CMake package and pkg-config file. It is relocatable.

include(CMakePackageConfigHelpers)

install(FILES include/trommel.h include/trommel.hpp DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(DIRECTORY include/trommel DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(PROGRAMS "${TROMMEL_LIBRARY_DIR}/${TROMMEL_SHARED}" DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(FILES
    "${TROMMEL_LIBRARY_DIR}/${TROMMEL_SONAME}"
    "${TROMMEL_LIBRARY_DIR}/libtrommel.so"
    "${TROMMEL_LIBRARY_DIR}/${TROMMEL_STATIC}"
    DESTINATION "${CMAKE_INSTALL_LIBDIR}")
if(TROMMEL_RUNTIME_SHADERS)
    install(PROGRAMS "${TROMMEL_KERNEL_TOOL}" DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()
install(DIRECTORY glsl/lib/ DESTINATION "${CMAKE_INSTALL_DATADIR}/trommel/glsl" FILES_MATCHING PATTERN "*.glsl")
install(FILES LICENSE-MIT LICENSE-APACHE DESTINATION "${CMAKE_INSTALL_DOCDIR}")

set(config_dir "${CMAKE_INSTALL_LIBDIR}/cmake/trommel")
configure_package_config_file(cmake/trommelConfig.cmake.in trommelConfig.cmake
    INSTALL_DESTINATION "${config_dir}" PATH_VARS CMAKE_INSTALL_BINDIR CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
# Before 1.0 a minor version may change the ABI.
write_basic_package_version_file(trommelConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES
    "${CMAKE_CURRENT_BINARY_DIR}/trommelConfig.cmake"
    "${CMAKE_CURRENT_BINARY_DIR}/trommelConfigVersion.cmake"
    cmake/trommelKernel.cmake
    DESTINATION "${config_dir}")

set(pc_dir "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig")
file(RELATIVE_PATH TROMMEL_PC_PREFIX "${pc_dir}" "${CMAKE_INSTALL_PREFIX}")
string(REGEX REPLACE "/$" "" TROMMEL_PC_PREFIX "${TROMMEL_PC_PREFIX}")
configure_file(cmake/trommel.pc.in trommel.pc @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/trommel.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
