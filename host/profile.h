/* LIBOMPTARGET_PROFILE: the program's constructs in the timeline, each with its place in the source, above
 * what the core adds: kernels, copies, waits. Not here: the file (base/timeline). */
#ifndef TGT_PROFILE_H
#define TGT_PROFILE_H

#include "ompt.h"

/* Once the machine is there: has constructs noted if there is a timeline. */
void tgt_profile_start(void);

/* The thread begins, or goes on with, a construct; and ends it, or leaves it to a task: that is a span. */
void tgt_profile_begin(tgt_told_t *told);
void tgt_profile_end(const tgt_told_t *told);

#endif
