/* Shared virtual memory: attributes of the program's own memory, page by page, as the driver keeps them, and
 * which GPUs may access it for that. Pages stay where they are: where they are preferred and prefetched to is
 * only remembered. Not here: memory that devices allocate (memory.h), and GPUs that reach everything (XNACK:
 * base/vm.h). */
#ifndef GFXSIM_MACHINE_SVM_H
#define GFXSIM_MACHINE_SVM_H

#include <hsakmt.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

struct gs_machine;
struct gs_svm_range;

/* Of places: no node, or not the same for all pages. */
enum { GS_SVM_NOWHERE = -1 };

typedef struct gs_svm {
  struct gs_machine *machine;
  pthread_mutex_t lock;
  struct gs_svm_range *first; /* in the order of addresses; none overlap */
  _Atomic size_t count;
} gs_svm_t;

void gs_svm_init(gs_svm_t *svm, struct gs_machine *machine);
/* Forgets everything. Accepts a zeroed object. */
void gs_svm_fini(gs_svm_t *svm);

/* Sets attributes, in their order, of [start, start + size), whole pages that the program has. Values that
 * stand for places and accesses are nodes. HSAKMT_STATUS_INVALID_PARAMETER for what there is not, and
 * HSAKMT_STATUS_ERROR for addresses that the program does not have; then nothing is set. Thread-safe, as what
 * follows. */
HSAKMT_STATUS gs_svm_set(gs_svm_t *svm, uint64_t start, uint64_t size, const HSA_SVM_ATTRIBUTE *list,
                         uint32_t count);
/* Answers attributes: what all pages have in common. A question for a GPU's access gets its answer as the
 * type. */
HSAKMT_STATUS gs_svm_get(gs_svm_t *svm, uint64_t start, uint64_t size, HSA_SVM_ATTRIBUTE *list,
                         uint32_t count);
/* The program has given up all pages that have one of these bytes, as munmap has it: nothing if `start` is
 * not where a page begins. */
void gs_svm_forget(gs_svm_t *svm, uint64_t start, uint64_t size);

#endif
