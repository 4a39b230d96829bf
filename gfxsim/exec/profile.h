/* Models of GPU: everything that distinguishes one simulated part from another, as data.
 * Not here: code that depends on it. Adding a device is adding a row to profile.c. */
#ifndef GFXSIM_EXEC_PROFILE_H
#define GFXSIM_EXEC_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cost.h"
#include "isa/target.h"

/* A model of GPU. Immutable data; numbers are those that the Linux driver reports for the part. */
typedef struct gs_profile {
  const char *name; /* of the processor, e.g. "gfx90a"; of the product, if there is another with that one */
  const char *marketing_name; /* e.g. "AMD Instinct MI210" */
  const char *family_name;    /* the driver's chip name, e.g. "aldebaran" */
  gs_target_t target;         /* instruction set of waves of 64 lanes */
  gs_target_t narrow_target;  /* and of 32 lanes, which are the usual ones then; 0 = there are none */
  uint32_t gfx_major, gfx_minor, gfx_stepping;
  uint32_t device_id;    /* PCI */
  uint32_t revision;     /* of the chip; 0 = not known */
  uint32_t pci_revision; /* of the board: with device_id, what libdrm knows its name by */
  uint32_t family_id;
  uint32_t cus; /* compute units */
  uint32_t simds_per_cu;
  uint32_t waves_per_simd; /* maximum */
  uint32_t shader_engines;
  uint32_t arrays_per_engine;
  uint32_t xccs; /* parts that share the compute units and engines, and take workgroups in turn; 0 = one */
  uint32_t scratch_slots_per_cu;
  uint32_t engine_clock_mhz;
  uint32_t memory_clock_mhz;
  uint32_t memory_bus_bits;
  uint64_t memory_bytes;
  uint32_t l1_kib, l2_kib;
  uint32_t lds_bytes; /* per compute unit and per workgroup at most */
  uint32_t sdma_engines;
  gs_link_t link;           /* to the host */
  bool sramecc;             /* error correction of on-chip memory: "sramecc+" in the ISA name */
  bool xnack;               /* can retry faults, as each process chooses: "xnack+" in the ISA name */
  bool ready_scratch;       /* waves begin with their address in FLAT_SCRATCH, and need no other */
  bool kernarg_preload;     /* arguments come in scalar registers, if the kernel wants that */
  bool packed_work_item_id; /* v0 holds x, y, z in 10 bits each, instead of v0..v2 */
  bool acc_vgprs;           /* as many accumulation registers as others, in a file of their own */
  bool unified_vgprs;       /* accumulation registers share the file, split at the kernel's accum_offset */
  uint32_t vgpr_granule; /* vector registers are counted in multiples of this; twice that in narrow waves */
  uint32_t vgpr_file;    /* vector registers of a SIMD for waves of 64 lanes; 0 = as gfx9 has them */
  uint32_t
      vgpr_block; /* registers are given in multiples of this, twice that in narrow waves; 0 = vgpr_granule */
  bool architected_scratch; /* hardware knows where a wave's scratch memory is, and registers need not say so;
                               COMPUTE_TMPRING_SIZE counts blocks of 256 bytes, and waves of an engine */
} gs_profile_t;

/* The profile called `name`, or NULL. */
const gs_profile_t *gs_profile_find(const char *name);
/* The i-th profile, or NULL past the end: for listing. */
const gs_profile_t *gs_profile_at(size_t i);

/* How many shader engines a part with so many compute units has: one, if they cannot be divided among its
 * own. */
uint32_t gs_profile_engines(const gs_profile_t *profile, uint32_t cus);
/* What COMPUTE_TMPRING_SIZE says of scratch memory: how many waves may have some at once, and bytes for each.
 */
void gs_profile_scratch(const gs_profile_t *profile, uint32_t cus, uint32_t tmpring, uint32_t *waves,
                        uint32_t *wave_bytes);

/* One GPU of a machine. */
typedef struct gs_part {
  const gs_profile_t *profile;
  uint64_t memory_bytes;
} gs_part_t;

enum { GS_MOST_PARTS = 16, GS_PARTS_REASON_BYTES = 512 };

/* Reads a list of GPUs, "gfx90a,gfx906:8G"; an empty one is a machine without any. Returns their number, or
 * -1, with the reason in `reason`, when the text is none. */
int gs_parts_parse(const char *list, gs_part_t parts[GS_MOST_PARTS], char reason[GS_PARTS_REASON_BYTES]);

#endif
