/* The execution side of one simulated GPU: address space, worker threads, decoded code, and the running of
 * one kernel dispatch from first wave to last. Not here: queues, packets and signals (packet/), and how the
 * host sees the GPU (machine/). */
#ifndef GFXSIM_EXEC_DEVICE_H
#define GFXSIM_EXEC_DEVICE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/cost.h"
#include "base/options.h"
#include "base/vm.h"
#include "exec/profile.h"

/* Apertures of LDS and private memory in the flat address space: 4 GiB each, where the Linux driver places
 * them. */
#define GS_SHARED_APERTURE  UINT64_C(0x0001000000000000)
#define GS_PRIVATE_APERTURE UINT64_C(0x0002000000000000)

typedef struct gs_device gs_device_t;

/* How a dispatch ended. */
typedef enum gs_outcome {
  GS_DONE = 0,
  GS_STOPPED,               /* *dispatch->stop became true */
  GS_INVALID_DIMENSIONS,    /* grid or workgroup size zero, or a dimension count outside 1..3 */
  GS_INVALID_GROUP_SIZE,    /* more than 1024 work-items in a workgroup */
  GS_INVALID_GROUP_SEGMENT, /* more LDS than a workgroup can have */
  GS_INVALID_CODE,          /* kernel object missing, or not a kernel descriptor that the GPU can read */
  GS_INVALID_REGISTERS,     /* the workgroup's registers do not fit */
  GS_MEMORY_FAULT,          /* an access that the address space does not allow */
  GS_APERTURE_FAULT,        /* an address outside of every aperture */
  GS_ILLEGAL_INSTRUCTION,
  GS_ABORT_TRAP,         /* s_trap 2: llvm.trap, abort, failed assert */
  GS_OUT_OF_HOST_MEMORY, /* the simulator itself */
} gs_outcome_t;

/* A choice among the compute units of a GPU, as hsa_amd_queue_cu_set_mask counts them: the units of the first
 * number of every shader engine come first, then those of the second, and so on. */
enum { GS_CU_MASK_WORDS = 32 };
typedef struct gs_cu_mask {
  uint32_t words;                  /* how many of `bits` count; none = all units may be used */
  uint32_t bits[GS_CU_MASK_WORDS]; /* bit i % 32 of word i / 32: unit i may be used */
} gs_cu_mask_t;

enum { GS_USER_REGISTERS = 16 };

/* A kernel that was set up register by register (PM4), instead of by a descriptor in memory. */
typedef struct gs_shader {
  uint64_t entry; /* address of the first instruction */
  uint32_t rsrc1, rsrc2, rsrc3;
  uint32_t user[GS_USER_REGISTERS]; /* the first scalar registers; rsrc2 says how many */
  bool narrow;                      /* waves of 32 lanes, on parts that have them */
} gs_shader_t;

/* What the command processor knows when it starts a kernel. Everything is borrowed for the duration of the
 * call. */
typedef struct gs_dispatch {
  uint64_t packet; /* address of the hsa_kernel_dispatch_packet_t as the kernel sees it, readable here too */
  const gs_shader_t *shader;   /* NULL: the packet names a descriptor; else only its sizes count */
  uint64_t queue;              /* address of the amd_queue_t, likewise */
  uint64_t dispatch_id;        /* index of the packet in its queue */
  uint64_t scratch_base;       /* address of the queue's scratch memory; 0 = none */
  uint32_t scratch_wave_bytes; /* scratch of one wave */
  uint32_t scratch_waves;      /* waves that may hold scratch at the same time */
  /* Buffer resource of the scratch memory (amd_queue_t.scratch_resource_descriptor). */
  uint32_t scratch_srd[4];
  const atomic_bool *stop; /* set by the host to abandon the dispatch (queue destroyed) */
  gs_cu_mask_t cu_mask;    /* compute units that the queue may use: at least one of the device's */
} gs_dispatch_t;

/* Where and why a wave failed, for the packet processor's events. The text for people was printed by exec
 * already. */
typedef struct gs_fault {
  uint64_t address; /* of the data, for memory faults */
  uint32_t access;  /* GS_VM_READ, _WRITE or _EXECUTE: what was attempted */
  bool not_present; /* nothing mapped there (else: access right missing) */
} gs_fault_t;

/* Hooks into whoever owns the device, called from worker threads. */
typedef struct gs_device_ops {
  void *context;
  /* Who looks at what kernels do, see isa/watch.h; NULL = nobody. Must outlive the device. */
  const struct gs_watch *watch;
  gs_costs_t *costs; /* what kernels ask of the host's memory is counted there; NULL = nowhere */
  /* Device code executed s_sendmsg(MSG_INTERRUPT): look which event mailboxes changed. */
  void (*send_interrupt)(void *context, uint32_t event_id);
} gs_device_ops_t;

/* Makes the execution side of a GPU. `ordinal` is its number for messages. Starts no thread until the first
 * dispatch. NULL when out of memory. `profile` must outlive the device; `options` and `ops` are copied. */
gs_device_t *gs_device_create(const gs_profile_t *profile, uint32_t ordinal, const gs_options_t *options,
                              const gs_device_ops_t *ops);
/* Joins the workers and frees everything. No dispatch may be running. Accepts NULL. */
void gs_device_destroy(gs_device_t *device);

/* The address space, owned by the device. The thunk maps and unmaps; DMA and packet processors read. */
gs_vm_t *gs_device_vm(gs_device_t *device);
const gs_profile_t *gs_device_profile(const gs_device_t *device);
/* Number of compute units after GFXSIM_CUS. */
uint32_t gs_device_cus(const gs_device_t *device);

/* Who looks at what the device does to memory, or NULL: for copy engines. */
const struct gs_watch *gs_device_watch(const gs_device_t *device);

/* How many of the device's compute units a mask selects. */
uint32_t gs_device_masked_cus(const gs_device_t *device, const gs_cu_mask_t *mask);

/* Whether the packet's kernel has waves of 32 lanes. */
bool gs_dispatch_is_narrow(const gs_device_t *device, const gs_vm_map_t *map, const gs_dispatch_t *dispatch);

/* Private memory in bytes per lane that the packet asks for, as if its waves had 64 lanes: what the command
 * processor compares with the queue's scratch before it starts the kernel. */
uint32_t gs_dispatch_private_bytes(const gs_device_t *device, const gs_vm_map_t *map,
                                   const gs_dispatch_t *dispatch);

/* Keeps what a thread needs to run kernels when the host has no memory left: to be called for each thread
 * that will, where a failure can still be told. Thread-safe. Returns 0, or -1 when out of memory (described
 * on stderr). */
int gs_device_reserve(gs_device_t *device) __attribute__((warn_unused_result));
/* Ends one reservation. Thread-safe. */
void gs_device_unreserve(gs_device_t *device);

/* Runs one kernel dispatch to its end on the calling thread and the device's workers. Several threads may run
 * dispatches of the same device at the same time; each makes progress even while another waits for the host.
 * The caller must not be a non-quiescent vm reader. A failed wave is described on stderr (kernel, PC,
 * instruction, address, lane) before the call returns; `fault` is filled for GS_MEMORY_FAULT and
 * GS_APERTURE_FAULT. */
gs_outcome_t gs_device_run(gs_device_t *device, const gs_dispatch_t *dispatch, gs_fault_t *fault)
    __attribute__((warn_unused_result));

/* With GFXSIM_STATS: prints the counters of all kernels that ran so far to `out`, and forgets them.
 * Thread-safe. */
void gs_device_print_stats(gs_device_t *device, FILE *out);
/* With GFXSIM_TRACE: writes what is buffered of the trace into its file, and says when that is incomplete,
 * once. Thread-safe. */
void gs_device_flush_trace(gs_device_t *device);

#endif
