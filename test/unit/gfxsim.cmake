# gfxsim without its interpreter: base, packet processors, machine and thunk on a stub device; then ROCr on the real library. (Of isa,
# what the checker refers to where nothing is optimised away.)
set(GFXSIM_ON_STUB
    base/clock.c base/condition.c base/cost.c base/log.c base/options.c base/strict.c base/thread.c base/vm.c
    check/blocks.c check/bounds.c check/called.c check/check.c check/copies.c check/digest.c check/findings.c check/fortran.c check/frees.c check/gone.c check/hold.c check/host.c check/host_read.c check/step.c check/x86.c check/init_shadow.c check/kernels.c check/mapped.c check/name.c check/sarif.c check/share.c check/suppress.c check/swap.c check/sweep.c check/team_stack.c check/text.c check/traffic.c
    check/transfer.c check/transfer_copies.c check/transfer_kernels.c check/transfer_reads.c check/transfer_tell.c
    exec/deal.c exec/guard.c exec/instruction.c exec/metadata.c exec/profile.c exec/source_line.c exec/symbol.c
    isa/memory.c isa/operand.c isa/toll.c isa/wave.c
    packet/aql.c packet/bus.c packet/flight.c packet/gate.c packet/late.c packet/pm4.c packet/pm4_engine.c packet/poller.c packet/queue.c
    packet/sdma.c packet/signal.c packet/synchronous.c
    machine/buffers.c machine/events.c machine/ledger.c machine/machine.c machine/memory.c machine/notes.c machine/poison.c machine/process.c
    machine/queues.c machine/share.c machine/svm.c machine/topology.c
    thunk/driver_calls.c thunk/event_calls.c thunk/libdrm.c thunk/memory_calls.c thunk/queue_calls.c thunk/rocr6.c
    thunk/topology_calls.c)
list(APPEND GFXSIM_ON_STUB check/atomic.c check/cache.c check/cache_parts.c check/cache_second.c check/cache_xcc.c check/cache_text.c check/lines.c check/order.c check/race.c check/race_host.c check/race_text.c check/race_values.c check/race_watch.c check/shadow.c check/site.c isa/decode.c isa/decode_gfx10.c isa/opcodes.c isa/unified.c)
list(APPEND GFXSIM_ON_STUB check/wait.c check/wait_late.c check/wait_local.c check/wait_operands.c check/wait_pass.c check/wait_report.c check/wait_states.c)
list(TRANSFORM GFXSIM_ON_STUB PREPEND ${PROJECT_SOURCE_DIR}/gfxsim/)

add_library(gfxsim_on_stub STATIC ${GFXSIM_ON_STUB} gfxsim_stub.c $<TARGET_OBJECTS:gfxsim_known>)
target_include_directories(gfxsim_on_stub PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(gfxsim_on_stub PUBLIC gfxsim_options PkgConfig::CMOCKA)

foreach(test base check metadata order packet thunk)
  add_executable(gfxsim_${test} gfxsim_${test}.c)
  target_link_libraries(gfxsim_${test} PRIVATE gfxsim_on_stub)
  add_test(NAME unit/gfxsim/${test} COMMAND gfxsim_${test})
  set_tests_properties(unit/gfxsim/${test} PROPERTIES LABELS unit TIMEOUT 120)
  quick(unit/gfxsim/${test})
endforeach()

# What code of the host accesses, by Zydis.
find_library(ZYDIS_LIBRARY Zydis REQUIRED)
add_executable(gfxsim_x86 gfxsim_x86.c)
target_link_libraries(gfxsim_x86 PRIVATE gfxsim_on_stub ${ZYDIS_LIBRARY})
add_test(NAME unit/gfxsim/x86 COMMAND gfxsim_x86)
set_tests_properties(unit/gfxsim/x86 PROPERTIES LABELS unit TIMEOUT 120)
quick(unit/gfxsim/x86)

target_compile_definitions(gfxsim_base PRIVATE GFXSIM_DOC="${PROJECT_SOURCE_DIR}/doc")

add_library(gfxsim_rocr STATIC gfxsim_rocr.c)
target_include_directories(gfxsim_rocr PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(gfxsim_rocr PUBLIC project_options PkgConfig::CMOCKA Threads::Threads hsa-runtime64)

add_executable(gfxsim_hsa gfxsim_hsa.c)
target_link_libraries(gfxsim_hsa PRIVATE gfxsim_rocr)
add_dependencies(gfxsim_hsa hsakmt)
# Each way in which ROCr drives the machine.
foreach(mode HSA_ENABLE_INTERRUPT=1 HSA_ENABLE_INTERRUPT=0 HSA_ENABLE_SDMA=0 HSA_DISABLE_FRAGMENT_ALLOCATOR=1)
  set(name unit/gfxsim/hsa/${mode})
  add_test(NAME ${name} COMMAND gfxsim_hsa)
  set_tests_properties(${name} PROPERTIES LABELS unit TIMEOUT 120
    ENVIRONMENT "LD_LIBRARY_PATH=$<TARGET_FILE_DIR:hsakmt>;GFXSIM_CUS=4;${mode};${below_rocr}")
  quick(${name})
endforeach()
