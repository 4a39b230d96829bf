# The parts that gfxsim simulates, oldest first: OMPTARGET_AMDGPU_PARTS, from the one table of them, but for what
# the compilers that tests here use do not know. (Scripts ask
# `gfxsim-run --list-devices`, which prints the same table.)
set(parts_table ${PROJECT_SOURCE_DIR}/gfxsim/exec/profile.c)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${parts_table})
file(STRINGS ${parts_table} OMPTARGET_AMDGPU_PARTS REGEX "^ *\\.name = \"gfx[0-9a-f]+\",$")
list(TRANSFORM OMPTARGET_AMDGPU_PARTS REPLACE ".*\"(.*)\".*" "\\1")
list(REVERSE OMPTARGET_AMDGPU_PARTS)
# No compiler before clang 17 and no ROCr before 6 knows it.
list(REMOVE_ITEM OMPTARGET_AMDGPU_PARTS gfx942)
if(NOT OMPTARGET_AMDGPU_PARTS)
  message(FATAL_ERROR "${parts_table} names no parts")
endif()
