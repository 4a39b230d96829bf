/* Memory that other processes see, too: files in memory, whose names say what they are. A descriptor of one
 * is what the driver calls a dma-buf, and passes between processes as one does. Not here: which buffers have
 * such files (memory.h). */
#ifndef GFXSIM_MACHINE_SHARE_H
#define GFXSIM_MACHINE_SHARE_H

#include <stdbool.h>
#include <stdint.h>

/* What a file is. */
typedef struct gs_share_label {
  uint64_t size;  /* in bytes, whole pages */
  uint32_t node;  /* where the memory is; of a machine that is like this one */
  uint32_t flags; /* HsaMemFlags */
} gs_share_label_t;

/* Makes a file of zeros. Returns a descriptor, which is closed on exec, or -1 with errno. Thread-safe, as
 * what follows. */
int gs_share_make(const gs_share_label_t *label) __attribute__((warn_unused_result));
/* Whether a descriptor, of anything, means such a file, and then its label. */
bool gs_share_read(int file, gs_share_label_t *label);
/* Whether two descriptors mean one file. */
bool gs_share_is_same(int one, int other);
/* Another descriptor of the same, closed on exec, with a number that programs do not use themselves. -1 with
 * errno. */
int gs_share_copy(int file) __attribute__((warn_unused_result));

/* Where another process of this user finds a file as long as this one has it open: in words that mean nothing
 * to others. */
enum { GS_SHARE_WORDS = 3 };
void gs_share_tell(int file, uint32_t words[GS_SHARE_WORDS]);
/* A descriptor for what such words mean, or -1 with errno: they are wrong, or whoever told them has gone or
 * closed it. */
int gs_share_find(const uint32_t words[GS_SHARE_WORDS]) __attribute__((warn_unused_result));

#endif
