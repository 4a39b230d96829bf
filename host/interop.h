/* OpenMP's interop objects: a device, and for "targetsync" a queue of it, for use without OpenMP. Programs
 * see what is in an object only through the functions of the API. */
#ifndef TGT_INTEROP_H
#define TGT_INTEROP_H

#include "abi.h"

#include <stdint.h>

typedef struct tgt_interop tgt_interop_t;

/* Kinds of objects, as clang 14 to 21 pass them, and as newer ones do. */
enum { TGT_INTEROP_OLD_TARGETSYNC = 2, TGT_INTEROP_TARGETSYNC = 1 };

/* What comes with a request [22-]. */
enum { TGT_INTEROP_IMPLICIT = 1, TGT_INTEROP_NOWAIT = 2 };
typedef struct tgt_interop_context {
  uint32_t version, flags;
  int32_t thread;
} tgt_interop_context_t;

typedef struct tgt_depend_pack {
  int32_t count, other_count;
  void *list, *other_list;
} tgt_depend_pack_t;

typedef void tgt_interop_callback_t(tgt_interop_t *interop, void *data);

/* The functions below are thread-safe; one object is for one thread at a time. Objects that were destroyed
 * are refused, with a message. Use without nowait, and destroying, wait for what the program has put into the
 * object's queue, and call what was to be called then. */

/* ---- constructs [14-21], and what newer compilers still emit ---- */

/* On a device that is not there an object is made nevertheless; it has no properties. */

TGT_EXPORT void __tgt_interop_init(const tgt_ident_t *where, int32_t thread, tgt_interop_t **interop,
                                   int32_t kind, int32_t device, int32_t count, void *list, int32_t nowait);
TGT_EXPORT void __tgt_interop_use(const tgt_ident_t *where, int32_t thread, tgt_interop_t **interop,
                                  int32_t device, int32_t count, void *list, int32_t nowait);
TGT_EXPORT void __tgt_interop_destroy(const tgt_ident_t *where, int32_t thread, tgt_interop_t **interop,
                                      int32_t device, int32_t count, void *list, int32_t nowait);

/* ---- constructs [22-] ---- */

/* NULL: there is no such device, or no memory. An implicit object stays ours, and is the thread's: releasing
 * it only waits. The other two return 0, or ~0 after a failure. */
TGT_EXPORT tgt_interop_t *__tgt_interop_get(const tgt_ident_t *where, int32_t kind, int64_t device,
                                            int32_t preference_count, const void *preferences,
                                            const tgt_interop_context_t *context,
                                            const tgt_depend_pack_t *depend);
TGT_EXPORT int __tgt_interop_use60(const tgt_ident_t *where, tgt_interop_t *interop,
                                   const tgt_interop_context_t *context, const tgt_depend_pack_t *depend);
TGT_EXPORT int __tgt_interop_release(const tgt_ident_t *where, tgt_interop_t *interop,
                                     const tgt_interop_context_t *context, const tgt_depend_pack_t *depend);
/* libomp, where a task waits: what the thread's implicit objects began has ended. */
TGT_EXPORT void __tgt_target_sync(const tgt_ident_t *where, int thread, void *task, void *event);
TGT_EXPORT int ompx_interop_add_completion_callback(tgt_interop_t *interop, tgt_interop_callback_t *callback,
                                                    void *data);

/* ---- the API ---- */

TGT_EXPORT intptr_t omp_get_interop_int(const tgt_interop_t *interop, int property, int *result);
TGT_EXPORT void *omp_get_interop_ptr(const tgt_interop_t *interop, int property, int *result);
TGT_EXPORT const char *omp_get_interop_str(const tgt_interop_t *interop, int property, int *result);
TGT_EXPORT const char *omp_get_interop_name(const tgt_interop_t *interop, int property);
TGT_EXPORT const char *omp_get_interop_type_desc(const tgt_interop_t *interop, int property);

#endif
