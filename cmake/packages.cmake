# Installation for others to build on: pkg-config and CMake package files, and two Debian packages. What each target
# installs is said where the target is; components are "plugin" and "gfxsim".
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/omptarget-amdgpu)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/omptarget-amdgpu-config.cmake.in
  ${PROJECT_BINARY_DIR}/cmake/omptarget-amdgpu-config.cmake INSTALL_DESTINATION ${package_dir}
  PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/omptarget-amdgpu-config-version.cmake
  COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cmake/omptarget-amdgpu-config.cmake
              ${PROJECT_BINARY_DIR}/cmake/omptarget-amdgpu-config-version.cmake
        DESTINATION ${package_dir} COMPONENT plugin)

# Folders of the .pc file follow its own place, so that an installed tree can be moved.
file(RELATIVE_PATH pc_up "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" pc_up "${pc_up}")
configure_file(${PROJECT_SOURCE_DIR}/cmake/omptarget-amdgpu.pc.in ${PROJECT_BINARY_DIR}/cmake/omptarget-amdgpu.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/cmake/omptarget-amdgpu.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
        COMPONENT plugin)

# ---- Debian packages: cpack --config build/release/CPackConfig.cmake ----

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # each package has its own
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_PACKAGE_CONTACT "omptarget-amdgpu maintainers <omptarget-amdgpu@users.noreply.github.com>")
set(CPACK_COMPONENTS_ALL plugin gfxsim)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS OFF)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PLUGIN_PACKAGE_NAME omptarget-amdgpu)
set(CPACK_DEBIAN_PLUGIN_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_PLUGIN_PACKAGE_DEPENDS libhsa-runtime64-1) # opened, not linked
set(CPACK_DEBIAN_PLUGIN_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/cmake/triggers)
set(CPACK_DEBIAN_PLUGIN_DESCRIPTION "OpenMP offload plugin for AMD GPUs
The plugin that the OpenMP runtime of LLVM 13 to 18 opens when a program
offloads to an AMD GPU. One file serves all these versions.")
set(CPACK_DEBIAN_GFXSIM_PACKAGE_NAME gfxsim)
set(CPACK_DEBIAN_GFXSIM_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_GFXSIM_PACKAGE_RECOMMENDS "omptarget-amdgpu, libhsa-runtime64-1")
set(CPACK_DEBIAN_GFXSIM_DESCRIPTION "simulated AMD GPUs below ROCr
Runs programs that use AMD GPUs through ROCr, such as OpenMP offload
programs or rocminfo, on a machine without a GPU. The machine code is
interpreted.")
# Debian wants files that an installation by hand does not have.
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_BINARY_DIR}/cmake/deb.cmake)
configure_file(${PROJECT_SOURCE_DIR}/cmake/deb.cmake.in ${PROJECT_BINARY_DIR}/cmake/deb.cmake @ONLY)
include(CPack)
