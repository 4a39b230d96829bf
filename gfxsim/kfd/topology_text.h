/* The driver's description of the machine as text: what its files below /sys hold. Not here: which file that
 * is (paths.h), and the machine itself (machine/topology.h). */
#ifndef GFXSIM_KFD_TOPOLOGY_TEXT_H
#define GFXSIM_KFD_TOPOLOGY_TEXT_H

#include <stdint.h>
#include <stdio.h>

#include "machine/machine.h"

/* The id by which ioctls know a GPU, and back: NULL when there is none with this id. */
uint32_t gs_kfd_gpu_id(const gs_gpu_t *gpu);
gs_gpu_t *gs_kfd_gpu_of(gs_machine_t *machine, uint32_t id);

/* What the driver asks of the memory to which a queue's waves are saved, in bytes and for one XCC. Newer ones
 * tell it (drivers/gpu/drm/amd/amdkfd, kfd_queue_ctx_save_restore_size); libhsakmt works out the same. */
typedef struct gs_save_sizes {
  uint32_t control_stack, area; /* with the former */
} gs_save_sizes_t;
gs_save_sizes_t gs_kfd_save_sizes(const gs_gpu_t *gpu);

/* Which numbers a path had, in its order: a node's, then that of something in it. */
typedef struct gs_path_numbers {
  uint32_t of[2];
} gs_path_numbers_t;

/* Kinds of what a node has. */
typedef enum gs_parts_of { GS_PARTS_BANKS, GS_PARTS_CACHES, GS_PARTS_LINKS, GS_PARTS_PEERS } gs_parts_of_t;

/* How many of them a node has. */
uint32_t gs_kfd_count(gs_machine_t *machine, uint32_t node, gs_parts_of_t what);

/* Writers of files. */
typedef void gs_text_writer_t(FILE *to, gs_machine_t *machine, const gs_path_numbers_t *numbers);
gs_text_writer_t gs_write_generation, gs_write_system, gs_write_gpu_id, gs_write_node_name, gs_write_node,
    gs_write_bank, gs_write_cache, gs_write_link, gs_write_peer;

#endif
