/* The tool "transfer": what is mapped (OpenMP) lives twice, and the two copies are one variable only as long
 * as somebody copies. It follows, byte by byte, what was copied, what kernels read and wrote, and what the
 * host changed. Not here: who says what is mapped (notes.h), how findings are told (findings.h). */
#ifndef GFXSIM_CHECK_TRANSFER_H
#define GFXSIM_CHECK_TRANSFER_H

#include <stdint.h>

#include "check/findings.h"
#include "check/notes.h"
#include "isa/watch.h"

typedef struct gs_transfer gs_transfer_t;

/* NULL when out of memory. `findings` must outlive it. */
gs_transfer_t *gs_transfer_create(gs_findings_t *findings);
/* Accepts NULL, as do the others. */
void gs_transfer_destroy(gs_transfer_t *transfer);

/* Somebody will say what is mapped, if anything is. */
void gs_transfer_listen(gs_transfer_t *transfer);
/* [device, device + bytes) is the device's copy of what lies at `host`, by the construct at `stack`. Ends
 * what was mapped there. Without memory for it nothing is followed. All that follow are thread-safe. */
void gs_transfer_map(gs_transfer_t *transfer, uint64_t device, uint64_t bytes, const char *name,
                     const char *file, uint32_t line, uint64_t host, const gfxsim_stack_t *stack);
/* A construct at `stack` maps `bytes` that are mapped at `device` already, or only has a pointer there: 0.
 * `name`: NULL or empty, not known. */
void gs_transfer_found(gs_transfer_t *transfer, uint64_t device, uint64_t bytes, const char *name,
                       const gfxsim_stack_t *stack);
/* What is mapped at `device` is called otherwise. */
void gs_transfer_rename(gs_transfer_t *transfer, uint64_t device, const char *name);
/* See gfxsim_note_mapping_t. `stack`: where the program asks for it; `read_device` copies from device memory
 * for MAPPING_ENDS; false: it cannot be read. */
typedef bool gs_read_device_t(void *context, uint64_t address, void *to, uint64_t bytes);
void gs_transfer_note(gs_transfer_t *transfer, gfxsim_mapping_t what, uint64_t device, uint64_t bytes,
                      const gfxsim_stack_t *stack, gs_read_device_t *read_device, void *context);
/* A construct begins, which may ask for copies. */
void gs_transfer_construct(gs_transfer_t *transfer);
/* Tells of changes by the host that copies have undone since it was called last. */
void gs_transfer_tell_undone(gs_transfer_t *transfer);
/* What the host has, where a kernel has written the device's copy, and nobody brought that back, but may have
 * put there what the host has. */
typedef struct gs_old {
  const void *variable;    /* of the tool */
  uint64_t device, offset; /* of the first such byte: on the device, and in what is mapped */
  uint32_t first, bytes;   /* which of those that were asked for, and how many follow */
  uint64_t writer;         /* program counter of the kernel that wrote there first, or 0 */
  bool is_replaced;        /* the device's copy is what the host has, by now */
} gs_old_t;
/* Whether there is any. */
bool gs_transfer_has_old(gs_transfer_t *transfer);
/* Whether any of `bytes` at `host` is so, and the host has not written it since. In a signal handler, too: it
 * says no while others change what is mapped. */
bool gs_transfer_is_old(gs_transfer_t *transfer, uint64_t host, uint64_t bytes, gs_old_t *old);
/* The host has freed these bytes: what is there next has nothing to do with what is mapped. Accepts NULL. In
 * a signal handler, too. */
void gs_transfer_freed(gs_transfer_t *transfer, uint64_t host, uint64_t bytes);
/* The same, and what comes to be there, as the host's calls are seen (gfxsim_note_host_t). Copies from and to
 * freed memory are told of then. */
void gs_transfer_host(gs_transfer_t *transfer, gfxsim_host_t what, uint64_t address, uint64_t bytes,
                      const gfxsim_stack_t *stack);
/* Tells that the host's instruction at `pc` has read it, once for each `line` (gs_name_host_line). */
void gs_transfer_tell_old(gs_transfer_t *transfer, const gs_rule_t *rule, const gs_old_t *old, uint64_t pc,
                          uint64_t line);
/* A region is about to start, which may access any variable of `declare target` and, by pointers, whatever is
 * mapped. Before GFXSIM_MAPPING_USED of what it names. */
void gs_transfer_region(gs_transfer_t *transfer);
/* Prints which copies nobody needed, most bytes first. Once, at the end. */
void gs_transfer_summary(gs_transfer_t *transfer);

/* Its watcher; the context is a gs_check_t. */
extern const gs_watch_t gs_transfer_watch;

#endif
