/* A GPU without execution, for tests of the layers above exec: its dispatches end as the test says.
 * Not here: anything that tests check. */
#ifndef TEST_UNIT_GFXSIM_STUB_H
#define TEST_UNIT_GFXSIM_STUB_H

#include <hsa/hsa.h>

#include "exec/device.h"

/* What the stub does and saw. Set and read by one test at a time, while no dispatch runs. */
typedef struct gs_stub {
  gs_outcome_t outcome; /* of the next dispatches */
  gs_fault_t fault;     /* with the outcome GS_MEMORY_FAULT */
  bool until_stopped;   /* dispatches run until their queue is destroyed */
  bool no_memory;       /* reservations fail */
  int reserved;
  _Atomic int running;
  _Atomic int runs;
  gs_dispatch_t last; /* the latest dispatch; of one without a descriptor also what it points to */
  gs_shader_t shader;
  hsa_kernel_dispatch_packet_t packet;
} gs_stub_t;

/* The state of all stub devices of the test program. */
extern gs_stub_t gs_stub;

#endif
