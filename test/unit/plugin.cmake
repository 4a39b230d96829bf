# Unit tests of the plugin: pure parts by themselves, reading of real images, and the entry points on a simulated device.
set(here ${CMAKE_CURRENT_LIST_DIR})
add_library(plugin_test STATIC ${here}/plugin_test.c)
target_include_directories(plugin_test PUBLIC ${here})
target_link_libraries(plugin_test PRIVATE project_options PUBLIC PkgConfig::CMOCKA omptarget_rtl)

set(pure_parts msgpack packet target_id geometry env caller_abi pool timeline)
list(APPEND pure_parts rpc print heap hostcall messages)
list(APPEND pure_parts queue)
# The ABI between plugin and libomptarget, from outside.
add_library(plugin_driver STATIC ${here}/plugin_driver.c)
target_link_libraries(plugin_driver PRIVATE project_options PUBLIC plugin_test ${CMAKE_DL_LIBS})

foreach(part ${pure_parts} abi18 image abi access changed_hsa damage faults forks growth hsa_failures reports trace)
  add_executable(plugin_${part} ${here}/plugin_${part}.c)
  target_link_libraries(plugin_${part} PRIVATE project_options plugin_test ${CMAKE_DL_LIBS})
endforeach()
foreach(part abi access changed_hsa damage faults forks growth hsa_failures reports trace)
  target_link_libraries(plugin_${part} PRIVATE plugin_driver)
endforeach()
foreach(part access faults reports)
  target_link_libraries(plugin_${part} PRIVATE hsa-runtime64)
endforeach()
# Some functions stand in for ROCr's, which follow them.
set_target_properties(plugin_access PROPERTIES ENABLE_EXPORTS ON)
# For the name that the plugin looks up in libomptarget.
set_target_properties(plugin_abi PROPERTIES ENABLE_EXPORTS ON)
target_compile_definitions(plugin_env PRIVATE ENVIRONMENT_DOC="${here}/../../doc/environment.md")

foreach(part ${pure_parts})
  add_test(NAME unit/plugin/${part} COMMAND plugin_${part})
  set_tests_properties(unit/plugin/${part} PROPERTIES LABELS unit)
  quick(unit/plugin/${part})
endforeach()

# The images are built when the tests run, by the compilers that users have.
set(images ${CMAKE_CURRENT_BINARY_DIR}/images)
add_test(NAME unit/plugin/images COMMAND ${here}/images/build.sh ${images})
set_tests_properties(unit/plugin/images PROPERTIES FIXTURES_SETUP plugin_images LABELS unit TIMEOUT 300
                     ENVIRONMENT OMPTARGET_AMDGPU_LLVM_DIR=${OMPTARGET_AMDGPU_LLVM_DIR})

function(plugin_image_test name)
  add_test(NAME unit/plugin/${name} COMMAND ${ARGN})
  set_tests_properties(unit/plugin/${name} PROPERTIES FIXTURES_REQUIRED plugin_images LABELS unit TIMEOUT 120)
endfunction()

foreach(compiler 13 14 15 16)
  foreach(level O0 O2)
    plugin_image_test(image/clang${compiler}/${level}
                      plugin_image ${compiler} 4 ${images}/program-${compiler}-${level})
  endforeach()
endforeach()
foreach(compiler 15 16)
  plugin_image_test(image/clang${compiler}/v5 plugin_image ${compiler} 5 ${images}/kernels-${compiler}.o)
endforeach()

# The libraries that call, as Debian builds them; alone and all in one process.
set(all_libomptargets "")
foreach(version 13 14 15 16)
  set(library ${OMPTARGET_AMDGPU_LLVM_DIR}/${version}/usr/lib/llvm-${version}/lib/libomptarget.so)
  list(APPEND all_libomptargets ${version} ${library})
  plugin_image_test(caller_abi/libomptarget${version} plugin_caller_abi ${version} ${library})
endforeach()
plugin_image_test(caller_abi/libomptargets plugin_caller_abi ${all_libomptargets})

# The entry points need a device; gfxsim takes the thunk's place. ROCr in between is not instrumented.
set(device_environment LD_LIBRARY_PATH=$<TARGET_FILE_DIR:hsakmt> TSAN_OPTIONS=${below_rocr_tsan}
    LSAN_OPTIONS=suppressions=${here}/lsan.supp:print_suppressions=0)
plugin_image_test(abi/libomptarget18 plugin_abi18 $<TARGET_FILE:omptarget.rtl.amdgpu> ${images}/runtime18 64)
set_tests_properties(unit/plugin/abi/libomptarget18 PROPERTIES
                     ENVIRONMENT "${device_environment};GFXSIM_DEVICES=gfx90a,gfx90a")
# Where kernels decide how wide their waves are.
foreach(wave 32 64)
  plugin_image_test(abi/libomptarget18/wave${wave} plugin_abi18 $<TARGET_FILE:omptarget.rtl.amdgpu>
                    ${images}/runtime18-wave${wave} ${wave})
  set_tests_properties(unit/plugin/abi/libomptarget18/wave${wave} PROPERTIES
                       ENVIRONMENT "${device_environment};GFXSIM_DEVICES=gfx1030,gfx1030")
endforeach()
foreach(mode calls older fault trap threads timeline)
  plugin_image_test(abi/${mode} plugin_abi ${mode} $<TARGET_FILE:omptarget.rtl.amdgpu> ${images}/program-16-gfx90a
                    ${images}/program-16-O2)
  set_tests_properties(unit/plugin/abi/${mode} PROPERTIES ENVIRONMENT "${device_environment}")
endforeach()
foreach(mode calls fault threads)
  plugin_image_test(abi/${mode}/two-devices plugin_abi ${mode} $<TARGET_FILE:omptarget.rtl.amdgpu>
                    ${images}/program-16-gfx90a ${images}/program-16-O2)
  set_tests_properties(unit/plugin/abi/${mode}/two-devices PROPERTIES
                       ENVIRONMENT "${device_environment};GFXSIM_DEVICES=gfx90a,gfx90a")
endforeach()
# Streams of the core, without the plugin's entry points.
find_program(STREAM_CLANG NAMES clang-16 clang REQUIRED)
find_program(STREAM_LLD NAMES ld.lld-16 ld.lld REQUIRED)
set(stream_image ${CMAKE_CURRENT_BINARY_DIR}/plugin_kernels.co)
add_custom_command(OUTPUT ${stream_image}
  COMMAND ${STREAM_CLANG} -target amdgcn-amd-amdhsa -mcpu=gfx90a -mcode-object-version=4 -nogpulib -I${here}
          -c ${here}/plugin_kernels.s -o ${stream_image}.o
  COMMAND ${STREAM_LLD} -shared ${stream_image}.o -o ${stream_image}
  DEPENDS ${here}/plugin_kernels.s ${here}/kernel.inc VERBATIM)
add_custom_target(plugin_stream_image ALL DEPENDS ${stream_image})
add_executable(plugin_stream ${here}/plugin_stream.c)
target_link_libraries(plugin_stream PRIVATE project_options plugin_test ${CMAKE_DL_LIBS})
add_dependencies(plugin_stream plugin_stream_image)
add_test(NAME unit/plugin/stream/failures COMMAND plugin_stream ${stream_image} failures)
set_tests_properties(unit/plugin/stream/failures PROPERTIES LABELS unit TIMEOUT 120 ENVIRONMENT "${device_environment}")
quick(unit/plugin/stream/failures)
foreach(mode HSA_ENABLE_INTERRUPT=1 HSA_ENABLE_INTERRUPT=0 HSA_ENABLE_SDMA=0 GFXSIM_PCIE_ATOMICS=0
             GFXSIM_COPY_US=300)
  add_test(NAME unit/plugin/stream/${mode} COMMAND plugin_stream ${stream_image})
  set_tests_properties(unit/plugin/stream/${mode} PROPERTIES LABELS unit TIMEOUT 120
                       ENVIRONMENT "${device_environment};${mode}")
  quick(unit/plugin/stream/${mode})
endforeach()

# Where the device counts signals down in two steps, nobody else may write to them meanwhile.
foreach(mode calls older threads)
  plugin_image_test(abi/${mode}/no-atomics plugin_abi ${mode} $<TARGET_FILE:omptarget.rtl.amdgpu>
                    ${images}/program-16-gfx90a ${images}/program-16-O2)
  set_tests_properties(unit/plugin/abi/${mode}/no-atomics PROPERTIES
                       ENVIRONMENT "${device_environment};GFXSIM_PCIE_ATOMICS=0")
endforeach()
# Where no copy is complete when somebody looks for the first time.
foreach(mode calls threads)
  plugin_image_test(abi/${mode}/slow-copies plugin_abi ${mode} $<TARGET_FILE:omptarget.rtl.amdgpu>
                    ${images}/program-16-gfx90a ${images}/program-16-O2)
  set_tests_properties(unit/plugin/abi/${mode}/slow-copies PROPERTIES
                       ENVIRONMENT "${device_environment};GFXSIM_COPY_US=300")
endforeach()
# Waiting without interrupts, and copies without staging buffers.
foreach(variable HSA_ENABLE_INTERRUPT LIBOMPTARGET_AMDGPU_MAX_ASYNC_COPY_BYTES)
  plugin_image_test(abi/calls/${variable} plugin_abi calls $<TARGET_FILE:omptarget.rtl.amdgpu>
                    ${images}/program-16-gfx90a ${images}/program-16-O2)
  set_tests_properties(unit/plugin/abi/calls/${variable} PROPERTIES ENVIRONMENT "${device_environment};${variable}=0")
endforeach()
foreach(part changed_hsa faults reports trace)
  plugin_image_test(${part} plugin_${part} $<TARGET_FILE:omptarget.rtl.amdgpu> ${images}/program-16-gfx90a
                    ${images}/program-16-O2)
  set_tests_properties(unit/plugin/${part} PROPERTIES ENVIRONMENT "${device_environment}")
endforeach()
# On a host with one NUMA node, and with two.
foreach(part access access/numa)
  plugin_image_test(${part} plugin_access $<TARGET_FILE:omptarget.rtl.amdgpu> ${images}/program-16-gfx90a
                    ${images}/program-16-O2)
  set_tests_properties(unit/plugin/${part} PROPERTIES
                       ENVIRONMENT "${device_environment};GFXSIM_DEVICES=gfx90a,gfx90a,gfx90a")
endforeach()
set_property(TEST unit/plugin/access/numa APPEND PROPERTY ENVIRONMENT GFXSIM_NUMA=1)
set(damaged_images 1500)
if(OMPTARGET_AMDGPU_SANITIZE) # takes its time
  set(damaged_images 150)
endif()
plugin_image_test(damage plugin_damage 0 ${damaged_images} $<TARGET_FILE:omptarget.rtl.amdgpu> ${images}/program-16-gfx90a
                  ${images}/program-16-O2)
set_tests_properties(unit/plugin/damage PROPERTIES ENVIRONMENT "${device_environment}")
plugin_image_test(hsa_failures plugin_hsa_failures $<TARGET_FILE:omptarget.rtl.amdgpu> ${images}/program-16-gfx90a
                  ${images}/program-16-O2)
set_tests_properties(unit/plugin/hsa_failures PROPERTIES
                     ENVIRONMENT "${device_environment};GFXSIM_DEVICES=gfx90a,gfx90a" TIMEOUT 600)
plugin_image_test(forks plugin_forks $<TARGET_FILE:omptarget.rtl.amdgpu> ${images}/program-16-gfx90a
                  ${images}/program-16-O2)
set_tests_properties(unit/plugin/forks PROPERTIES
                     ENVIRONMENT "${device_environment};GFXSIM_DEVICES=gfx90a,gfx90a")
# Its functions stand in for ROCr's, which follow them.
foreach(part changed_hsa forks hsa_failures)
  set_target_properties(plugin_${part} PROPERTIES ENABLE_EXPORTS ON)
  target_link_libraries(plugin_${part} PRIVATE -Wl,--no-as-needed hsa-runtime64)
endforeach()

# Below a tool through which all packets pass. Its queues are longer than asked for: ROCr 5 asserts where they fill up.
add_library(plugin_tool MODULE ${here}/plugin_tool.c)
target_link_libraries(plugin_tool PRIVATE project_options)
target_include_directories(plugin_tool SYSTEM PRIVATE ${HSA_INCLUDE})
foreach(mode calls fault trap threads)
  plugin_image_test(abi/${mode}/tool plugin_abi ${mode} $<TARGET_FILE:omptarget.rtl.amdgpu>
                    ${images}/program-16-gfx90a ${images}/program-16-O2)
  set_tests_properties(unit/plugin/abi/${mode}/tool PROPERTIES ENVIRONMENT
                       "${device_environment};HSA_TOOLS_LIB=$<TARGET_FILE:plugin_tool>;HSA_TOOLS_REPORT_LOAD_FAILURE=1"
                       FAIL_REGULAR_EXPRESSION "failed to load")
endforeach()

# LLVM's own tool; its nextgen plugin for the host crashes when asked, so the classic ones have to be there.
plugin_image_test(device_info ${PROJECT_BINARY_DIR}/bin/gfxsim-run
                  ${OMPTARGET_AMDGPU_LLVM_DIR}/16/usr/lib/llvm-16/bin/llvm-omp-device-info)
set(library_path ${OMPTARGET_AMDGPU_LLVM_DIR}/16/usr/lib/llvm-16/lib)
set_tests_properties(unit/plugin/device_info PROPERTIES
  ENVIRONMENT "LD_LIBRARY_PATH=${library_path};LIBOMPTARGET_NEXTGEN_PLUGINS=false;${below_rocr}"
  PASS_REGULAR_EXPRESSION "Plugin: +omptarget-amdgpu ${PROJECT_VERSION}.*Name: +AMD Instinct MI210.*Location: +01:00.0.*L1: +8388608 bytes.*Compute Units: +104.*per Dimension:.* x: +1024.*COARSE GRAINED:.*Size: +68702699520 bytes.*Allocatable: +TRUE.*ISAs:.*Name: +amdgcn-amd-amdhsa--gfx90a:sramecc.:xnack-")

# Without gfxsim; the program's own open must be found by the libraries, which a sanitizer's would hide.
if(NOT OMPTARGET_AMDGPU_SANITIZE)
  add_executable(plugin_no_gpu ${here}/plugin_no_gpu.c)
  target_link_libraries(plugin_no_gpu PRIVATE project_options PkgConfig::CMOCKA ${CMAKE_DL_LIBS})
  target_include_directories(plugin_no_gpu PRIVATE ${PROJECT_SOURCE_DIR}/include)
  set_target_properties(plugin_no_gpu PROPERTIES ENABLE_EXPORTS ON)
  add_test(NAME unit/plugin/no_gpu COMMAND plugin_no_gpu $<TARGET_FILE:omptarget.rtl.amdgpu>)
  set_tests_properties(unit/plugin/no_gpu PROPERTIES LABELS unit)
  quick(unit/plugin/no_gpu)
endif()

# Without ROCr.
if(NOT OMPTARGET_AMDGPU_SANITIZE)
  foreach(part other_rocr part_of_rocr)
    add_library(plugin_${part} MODULE ${here}/plugin_${part}.c)
    target_link_libraries(plugin_${part} PRIVATE project_options ${CMAKE_DL_LIBS})
  endforeach()
  plugin_image_test(no_rocr ${here}/plugin_no_rocr.sh ${CMAKE_CURRENT_BINARY_DIR}/no_rocr $<TARGET_FILE:omptarget.rtl.amdgpu>
                    $<TARGET_FILE:plugin_other_rocr> $<TARGET_FILE:plugin_part_of_rocr>)
  set_tests_properties(unit/plugin/no_rocr PROPERTIES
                       ENVIRONMENT OMPTARGET_AMDGPU_LLVM_DIR=${OMPTARGET_AMDGPU_LLVM_DIR})
endif()

# Nothing in the plugin ends the process or asserts.
add_test(NAME unit/plugin/never_exits
         COMMAND ${here}/plugin_never_exits.sh ${CMAKE_NM} $<TARGET_FILE:atmi> $<TARGET_FILE:omptarget_rtl>)
set_tests_properties(unit/plugin/never_exits PROPERTIES LABELS unit)
quick(unit/plugin/never_exits)

# No error of memory, and no leak, beyond those that the file lists. A sanitizer and valgrind do not go together.
if(NOT OMPTARGET_AMDGPU_SANITIZE)
  find_program(VALGRIND valgrind REQUIRED)
  foreach(mode calls threads)
    plugin_image_test(valgrind/${mode} ${VALGRIND} --fair-sched=yes --quiet --error-exitcode=99 --leak-check=full
                      --errors-for-leak-kinds=definite,indirect,possible
                      --suppressions=${PROJECT_SOURCE_DIR}/tools/valgrind.supp
                      $<TARGET_FILE:plugin_abi> ${mode} $<TARGET_FILE:omptarget.rtl.amdgpu> ${images}/program-16-gfx90a
                      ${images}/program-16-O2)
    set_tests_properties(unit/plugin/valgrind/${mode} PROPERTIES ENVIRONMENT "${device_environment}" TIMEOUT 300
                         LABELS long)
  endforeach()
endif()

# Repetition takes nothing more. The long one is a million launches and a hundred thousand cycles; sanitizers keep memory.
if(NOT OMPTARGET_AMDGPU_SANITIZE)
  set_target_properties(plugin_growth PROPERTIES ENABLE_EXPORTS ON)
  target_link_libraries(plugin_growth PRIVATE -Wl,--no-as-needed hsa-runtime64)
  set(growth_arguments $<TARGET_FILE:omptarget.rtl.amdgpu> ${images}/program-16-gfx90a ${images}/program-16-O2)
  plugin_image_test(growth plugin_growth 2000 1000 ${growth_arguments})
  plugin_image_test(growth/long plugin_growth 1000000 100000 ${growth_arguments})
  set_tests_properties(unit/plugin/growth unit/plugin/growth/long PROPERTIES
                       ENVIRONMENT "${device_environment};GFXSIM_EXECUTE=0")
  set_tests_properties(unit/plugin/growth/long PROPERTIES LABELS long TIMEOUT 1800)
endif()

# The folder that leaves other devices' plugins out.
if(NOT OMPTARGET_AMDGPU_SANITIZE)
  add_test(NAME unit/plugin/only COMMAND ${here}/plugin_only.sh ${CMAKE_CURRENT_BINARY_DIR}/only
                                         ${PROJECT_BINARY_DIR}/bin/gfxsim-run $<TARGET_FILE_DIR:omptarget.rtl.amdgpu>/amdgpu-only)
  set_tests_properties(unit/plugin/only PROPERTIES LABELS unit ENVIRONMENT
                       "OMPTARGET_AMDGPU_LLVM_DIR=${OMPTARGET_AMDGPU_LLVM_DIR};${below_rocr}")
endif()
