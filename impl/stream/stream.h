/* A stream: operations on one device that happen in the order they were given, without the host waiting.
 * What is outstanding is one list of operations, oldest first, each with a signal of its own. A kernel behind
 * a kernel is ordered by the queue they are on; everything else waits for the signal of what came before.
 * A stream belongs to one host thread at a time; its results may be waited for from anywhere through events.
 * Not here: copies between the user's memory and the device (stream/transfer). */
#ifndef ATMI_STREAM_STREAM_H
#define ATMI_STREAM_STREAM_H

#include "base/few.h"
#include "base/piece.h"
#include "device/code_object.h"
#include "device/device.h"
#include "memory/arena.h"
#include "stream/kernarg.h"
#include "stream/note.h"

typedef enum atmi_operation_kind {
  ATMI_OPERATION_KERNEL,
  ATMI_OPERATION_COPY,
  ATMI_OPERATION_WAIT, /* for an operation of another stream */
} atmi_operation_kind_t;

/* What the host has to do when operations are complete, besides forgetting them. */
enum {
  ATMI_OWES_BYTES = 1,   /* of a copy: to move the bytes to the user's memory */
  ATMI_OWES_RESULT = 2,  /* of a copy: nothing, but the user's memory changes; comes with ATMI_OWES_BYTES */
  ATMI_OWES_PIN = 4,     /* of a copy: to give back what is pinned */
  ATMI_OWES_BLOCK = 8,   /* of a copy: to give back a large staging block */
  ATMI_OWES_MORE = 16,   /* of others, or of all: see end_operation, end_list */
  ATMI_OWES_ARENAS = 32, /* of all: to take memory back into the stream's arenas */
  ATMI_OWES_PIECES = 64, /* of a copy, with ATMI_OWES_BYTES: they belong to several places */
};

/* With what. */
typedef struct atmi_aftermath {
  void *host; /* the user's memory */
  size_t bytes;
  const void *staged;         /* where its bytes are */
  const atmi_piece_t *pieces; /* likewise in staging memory; `bytes` is their number then */
  struct atmi_host_range *pin;
  atmi_block_t *block;
} atmi_aftermath_t;

/* A place in a stream's list. Its signal stays when the operation is over, and serves the next one there. */
typedef struct atmi_operation {
  atmi_signal_t *signal; /* tells when the operation is complete; of a wait it is the other stream's */
  atmi_signal_t *own;    /* of a wait: the place's signal meanwhile */
  atmi_operation_kind_t kind;
  uint32_t owes;          /* of a copy: ATMI_OWES_ bits */
  atmi_aftermath_t after; /* as far as they say so */
  atmi_note_t *note;      /* only with a timeline */
} atmi_operation_t;

enum { ATMI_STREAM_PAGES = 16, ATMI_STREAM_PAGE_BYTES = 4096 };

struct atmi_stream {
  atmi_pool_link_t link;
  atmi_device_t *device;
  atmi_stream_place_t *_Atomic place; /* of the thread that took it last; for others, too */
  atmi_timeline_t *timeline;          /* the machine's */
  atomic_bool pooled;                 /* idle, in the pool and not in its place */
  bool holds_queue;
  bool moved; /* outstanding kernels may be on another queue than this one: nothing was published here yet */
  uint32_t device_number;
  atmi_queue_t *queue; /* where its kernels go; kept as a hint while the stream is idle */

  /* The list. The signals of places before `prepared` may be begun as they are; of others that has to be
   * looked at first. */
  atmi_operation_t *operations;
  uint32_t count, prepared, capacity;
  /* Of the first operation's signal, if that is no wait: what a stream with one operation looks at. */
  const volatile int64_t *first_value;
  uint32_t owes; /* all that the operations owe together, and maybe more where one did not begin */

  /* Launches that repeat, see stream/plan.h; NULL: none yet. `ready_plans` is the same while the first place
   * need not be looked at, else NULL. */
  struct atmi_plans *plans, *ready_plans;
  const struct atmi_plan *planned; /* the one whose own block an operation has, or had */
  atmi_arena_t kernargs, staging;  /* memory that operations use */
  /* Staging memory of the first place, for copies of an idle stream that are no larger than `slot_bytes`. 0:
   * none yet, or that place has to be looked at first, or there is a timeline. */
  char *slot;
  size_t slot_bytes;
  hsa_agent_t agent, cpu; /* the device's and the host's: the ends of these copies */
  /* Pages of the host's memory in which copies have ended before: see atmi_transfer_knows. */
  uintptr_t readable[ATMI_STREAM_PAGES], writable[ATMI_STREAM_PAGES];
  void *workspace; /* device memory, see atmi_stream_workspace */
  uint64_t workspace_bytes;
  uint32_t served_count; /* kernels begun that may call their host (base/service) */
};

/* What a launch is told besides the kernel. */
typedef struct atmi_launch {
  /* `leading` goes in front of the program's words, `trailing` behind them. */
  bool has_leading, has_trailing;
  uint64_t leading, trailing;
  void *const *arguments;   /* explicit words, see atmi_kernarg_fill */
  const ptrdiff_t *offsets; /* NULL: none */
  uint32_t argument_count;
  /* Workgroups, and work-items in each, by dimension; the product fits 32 bits in each dimension, and that of
   * all work-items of a group the device. */
  uint32_t groups[3], group[3];
  uint32_t dynamic_lds_bytes;
} atmi_launch_t;

/* ---- the pool ---- */

/* Called by the device for its pool. */
void atmi_stream_pool_init(atmi_device_t *device);

/* Whether a stream of the device is taken: somebody is in the middle of something. */
bool atmi_stream_is_any_taken(atmi_device_t *device);

/* An idle stream of the device, preferably the one that this thread had last, and its return. Putting a
 * stream that is not idle waits for it. */
ATMI_MUST_CHECK atmi_status_t atmi_stream_take_any(atmi_device_t *device, atmi_stream_t **stream);
void atmi_stream_put_any(atmi_stream_t *stream);

/* gcc has this function's name on every processor, but not its code: on POWER it is an error. */
#if defined(__has_builtin) && (defined(__x86_64__) || defined(__aarch64__))
#if __has_builtin(__builtin_thread_pointer)
#define ATMI_HAS_THREAD_POINTER 1
#endif
#endif

/* A number that tells threads apart. */
static inline uint64_t atmi_stream_thread(void) {
#ifdef ATMI_HAS_THREAD_POINTER
  return (uint64_t)(uintptr_t)__builtin_thread_pointer();
#else
  return (uint64_t)(uintptr_t)pthread_self();
#endif
}

/* Each thread has a place where it leaves its stream for its next use. Threads that share a place still work,
 * through the pool. */
static inline atmi_stream_place_t *atmi_stream_place(atmi_device_t *device) {
  uint64_t hash = atmi_stream_thread() * UINT64_C(0x9e3779b97f4a7c15);
  return &device->idle_streams[hash >> (64 - ATMI_DEVICE_PLACES_LOG2)];
}

/* The stream in the thread's place, or NULL. */
static inline atmi_stream_t *atmi_stream_take_own(atmi_device_t *device) {
  atmi_stream_place_t *place = atmi_stream_place(device);
  /* Acquire pairs with the release of the put: the stream is seen as its last user left it. Its place is this
   * one. */
  return atomic_exchange_explicit(&place->stream, NULL, memory_order_acquire);
}

ATMI_MUST_CHECK static inline atmi_status_t atmi_stream_take(atmi_device_t *device, atmi_stream_t **stream) {
  *stream = atmi_stream_take_own(device);
  return *stream ? ATMI_OK : atmi_stream_take_any(device, stream);
}

/* Puts an idle stream that holds no queue, and whose place has another one. */
void atmi_stream_put_into_pool(atmi_stream_t *stream);

/* Puts an idle stream that holds no queue. */
static inline void atmi_stream_put_bare(atmi_stream_t *stream) {
  atmi_stream_place_t *place = atomic_load_explicit(&stream->place, memory_order_relaxed);
  atmi_stream_t *nobodys = NULL;
  /* Release publishes the stream to whoever takes it from the place. */
  if (!atomic_compare_exchange_strong_explicit(&place->stream, &nobodys, stream, memory_order_release,
                                               memory_order_relaxed))
    atmi_stream_put_into_pool(stream);
}

/* Puts an idle stream. */
static inline void atmi_stream_put_idle(atmi_stream_t *stream) {
  if (stream->holds_queue) {
    stream->holds_queue = false;
    atmi_queue_release(stream->queue);
  }
  atmi_stream_put_bare(stream);
}

static inline void atmi_stream_put(atmi_stream_t *stream) {
  if (stream->count)
    atmi_stream_put_any(stream);
  else
    atmi_stream_put_idle(stream);
}

/* ---- completion ---- */

/* ATMI_OK if all operations are complete without a failure, else what is wrong with one of them: ATMI_PENDING
 * while any is pending. */
atmi_status_t atmi_stream_judge(const atmi_stream_t *stream);

/* Makes the stream idle if all its operations are complete: does the host's part of them. False, and nothing
 * has changed, if they are not, or something has failed. */
bool atmi_stream_settle_list(atmi_stream_t *stream);

/* Whether the first operation of the list, which is no wait, has ended. As after a fault all have, that means
 * completion only while the device is not lost. */
static inline bool atmi_stream_has_first_ended(const atmi_stream_t *stream) {
  /* Acquire as in atmi_signal_query; and a device is lost before its signals are abandoned. */
  return !__atomic_load_n(stream->first_value, __ATOMIC_ACQUIRE);
}

/* The same, if it is also the only one. */
static inline bool atmi_stream_has_one_ended(const atmi_stream_t *stream) {
  return stream->count == 1 && atmi_stream_has_first_ended(stream);
}

/* The same, or it is idle, and there is nothing to do for it. */
static inline bool atmi_stream_has_ended_plainly(const atmi_stream_t *stream) {
  return !stream->count || (!stream->owes && atmi_stream_has_one_ended(stream));
}

/* Whether the only operation has ended well, and there is nothing to do for it. */
static inline bool atmi_stream_has_one_done(const atmi_stream_t *stream) {
  return !stream->owes && atmi_stream_has_first_ended(stream) && !atmi_device_is_lost(stream->device);
}

/* Makes a stream idle for which there is nothing to do: false if there is. */
static inline bool atmi_stream_settle_plain(atmi_stream_t *stream) {
  if (!stream->count)
    return true;
  if (stream->count != 1 || !atmi_stream_has_one_done(stream))
    return false;
  stream->count = 0;
  return true;
}

/* The same if its only operation is a copy whose bytes are to be moved, as after a small retrieve. */
static inline bool atmi_stream_settle_copy(atmi_stream_t *stream) {
  if (stream->owes != (ATMI_OWES_BYTES | ATMI_OWES_RESULT) || !atmi_stream_has_one_ended(stream) ||
      atmi_device_is_lost(stream->device))
    return false;
  const atmi_aftermath_t *after = &stream->operations->after;
  atmi_move_few(after->host, after->staged, after->bytes);
  stream->count = stream->owes = 0;
  return true;
}

static inline bool atmi_stream_settle(atmi_stream_t *stream) {
  return atmi_stream_settle_plain(stream) || atmi_stream_settle_list(stream);
}

ATMI_MUST_CHECK atmi_status_t atmi_stream_synchronize_list(atmi_stream_t *stream);

/* Waits for all operations and does the host's part; the stream is idle afterwards, also if it failed. Fails
 * with ATMI_LOST after a fault, which was described when it happened, or with ATMI_HSA_FAILED, described. */
ATMI_MUST_CHECK static inline atmi_status_t atmi_stream_synchronize(atmi_stream_t *stream) {
  return atmi_stream_settle_list(stream) ? ATMI_OK : atmi_stream_synchronize_list(stream);
}

/* As atmi_stream_synchronize if all operations are complete; else ATMI_PENDING, at once. */
ATMI_MUST_CHECK atmi_status_t atmi_stream_query(atmi_stream_t *stream);

/* ---- operations ----
 * Each of these begins an operation that starts when all earlier ones of the stream are complete. They return
 * at once; only while the ring is full do they wait. Failures are described. Transfers are in
 * stream/transfer.h. */

struct atmi_plan_key;

/* Launches a kernel. If `key` is not NULL the launch is remembered by it as a plan, where that is possible.
 */
ATMI_MUST_CHECK atmi_status_t atmi_stream_launch(atmi_stream_t *stream, const struct atmi_plan_key *key,
                                                 const atmi_kernel_t *kernel, const atmi_launch_t *launch);

/* The next operation also waits for this signal, which may be of another stream or device. Takes no reference
 * away from the caller. */
ATMI_MUST_CHECK atmi_status_t atmi_stream_wait_for(atmi_stream_t *stream, atmi_signal_t *signal);

/* Device memory of the stream's own, `bytes` long at least, which operations of the stream use one after the
 * other and nobody else does. `*fresh` if the block was not returned before; its content is undefined then,
 * and else as the stream's operations left it. Fails with ATMI_NO_MEMORY or ATMI_HSA_FAILED, described. */
ATMI_MUST_CHECK atmi_status_t atmi_stream_workspace(atmi_stream_t *stream, uint64_t bytes, void **block,
                                                    bool *fresh);

/* A mark of all operations so far; 0 if they are complete. Waits on the host only if the last thing that the
 * stream did was to wait for another one, or if it has retrieved data that the host has yet to move to its
 * place; fails as that does. */
ATMI_MUST_CHECK atmi_status_t atmi_stream_mark(atmi_stream_t *stream, atmi_signal_mark_t *mark);

/* Whether an operation so far has yet to change any of this memory of the user's. */
bool atmi_stream_will_write(const atmi_stream_t *stream, const void *host, size_t bytes);

/* ---- for atmi_plan ---- */

/* Whether the launch must not run at the same time as others of which this is true: because the kernel says
 * so, or because together they could want more scratch memory than there is. */
bool atmi_stream_runs_alone(const atmi_stream_t *stream, const atmi_kernel_t *kernel,
                            const atmi_launch_t *launch);

/* The place of the next operation with its signal begun; the operation is not in the list before it is
 * counted. To be settled first, so that what is complete gives back what it has. NULL, described, without
 * memory. */
atmi_operation_t *atmi_stream_prepare(atmi_stream_t *stream);

/* Memory of one of the stream's arenas for its next operation; free again when the stream is idle. As
 * atmi_arena_allocate. */
ATMI_MUST_CHECK static inline atmi_status_t atmi_stream_allocate(atmi_stream_t *stream, atmi_arena_t *arena,
                                                                 size_t bytes, void **memory) {
  stream->owes |= ATMI_OWES_ARENAS;
  return atmi_arena_allocate(arena, bytes, memory);
}

static inline atmi_operation_t *atmi_stream_next(atmi_stream_t *stream) {
  if (stream->count >= stream->prepared)
    return atmi_stream_prepare(stream);
  atmi_operation_t *next = &stream->operations[stream->count];
  atmi_signal_begin(next->signal);
  return next;
}

/* ---- copies ---- */

/* The stream, which has a timeline, has begun the last operation of its list. */
void atmi_stream_note_kernel(atmi_stream_t *stream, const atmi_kernel_t *kernel,
                             const hsa_kernel_dispatch_packet_t *packet);
void atmi_stream_note_copy(atmi_stream_t *stream, const char *what, size_t bytes);

/* Parts of atmi_stream_copy: what HSA has refused is described and dropped, what has begun is counted. */
atmi_status_t atmi_stream_copy_refused(atmi_stream_t *stream, atmi_operation_t *operation, hsa_status_t hsa,
                                       const char *what, const void *destination, const void *source,
                                       size_t bytes);

static inline void atmi_stream_add_copy(atmi_stream_t *stream, uint32_t owes, const char *what,
                                        size_t bytes) {
  stream->count++;
  stream->owes |= owes;
  if (stream->timeline)
    atmi_stream_note_copy(stream, what, bytes);
}

/* A copy: its operation, from atmi_stream_next, has `owes` and what that says of `after` filled in; what it
 * holds is taken over, also if the copy fails to begin. Both agents must have access to both ends.
 *   what  names the operation in messages, and lives as long as the stream */
ATMI_MUST_CHECK atmi_status_t atmi_stream_copy(atmi_stream_t *stream, atmi_operation_t *operation,
                                               const char *what, void *destination,
                                               hsa_agent_t destination_agent, const void *source,
                                               hsa_agent_t source_agent, size_t bytes);

/* The operation of a copy by the first place of an idle stream that has its slot. */
static inline atmi_signal_t *atmi_stream_begin_slot(atmi_operation_t *operation, uint32_t owes) {
  atmi_signal_t *signal = operation->signal;
  operation->owes = owes;
  /* Only kernels are noted, by their queue. */
  if (operation->kind == ATMI_OPERATION_COPY) {
    atmi_signal_begin_again(signal);
  } else {
    operation->kind = ATMI_OPERATION_COPY;
    atmi_signal_begin(signal);
  }
  return signal;
}

/* Makes the held queue wait for what a kernel must wait for. `*barrier`: the kernel's packet must have the
 * barrier bit. Fails with ATMI_LOST, described. */
ATMI_MUST_CHECK atmi_status_t atmi_stream_order_kernel(atmi_stream_t *stream, bool *barrier);

#endif
