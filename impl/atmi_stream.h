/* A stream: operations on one device that happen in the order they were given, without the host waiting.
 * Kernels follow each other by the queue's own order; a signal joins a copy to what came before and after it.
 * A stream belongs to one host thread at a time; its results may be waited for from anywhere through events.
 */
#ifndef ATMI_STREAM_H
#define ATMI_STREAM_H

#include "atmi_arena.h"
#include "atmi_code_object.h"
#include "atmi_device.h"
#include "atmi_kernarg.h"

/* What the host has to do once the stream's operations are complete, in order. */
typedef struct atmi_stream_duty {
  enum {
    ATMI_DUTY_NOTHING,   /* only says that the device writes the user's memory directly */
    ATMI_DUTY_COPY_OUT,  /* move retrieved bytes from the staging buffer to the user's memory */
    ATMI_DUTY_UNPIN,     /* give back a reference to the user's pages */
    ATMI_DUTY_PUT_BLOCK, /* return a large staging block to its pool */
  } kind;
  bool writes_host; /* the user's memory changes until the duty is done */
  void *host;       /* the user's memory */
  size_t bytes;
  void *resource; /* staging address, pinned range or block, by kind */
} atmi_stream_duty_t;

typedef enum atmi_stream_tail { ATMI_TAIL_NONE, ATMI_TAIL_KERNELS, ATMI_TAIL_COPY } atmi_stream_tail_t;

enum { ATMI_STREAM_WAITS = 8, ATMI_STREAM_SPARES = 32 };

/* What it takes to become idle. Below ATMI_STREAM_BUSY the stream's own signal tells when all is complete;
 * nobody else knows it, the stream waits for nothing else, and has no tail. */
enum {
  ATMI_STREAM_IDLE = 0,
  ATMI_STREAM_LAUNCHED = 1, /* to wait for its own signal: of a kernel */
  ATMI_STREAM_COPIED = 2,   /* of a copy, and maybe of a kernel that was complete before it began */
  ATMI_STREAM_STAGED = 4,   /* to take staging memory back */
  ATMI_STREAM_OWING = 8,    /* to do duties */
  ATMI_STREAM_BUSY = 16,    /* anything */
};

struct atmi_stream {
  atmi_pool_link_t link;
  atmi_device_t *device;
  atmi_stream_place_t *place; /* of the thread that took it last */
  atomic_bool taken;          /* for who wants to know whether the device is in use */
  bool holds_queue;
  atmi_queue_t *queue; /* where its kernels go; kept as a hint while the stream is idle */

  uint32_t phase;           /* ATMI_STREAM_ bits */
  struct atmi_plans *plans; /* see atmi_plan.h; NULL: none yet */
  /* A signal that the stream keeps over all its uses: of operations that begin when all before them are
   * complete. Only events hand marks of it out, and they close it. NULL: none yet, or there is a timeline,
   * where each operation has a signal to itself. `own_value` is where its value is, and never 0 without. */
  atmi_signal_t *own;
  const volatile int64_t *own_value;

  atmi_stream_tail_t tail_kind;
  atmi_signal_t
      *tail; /* of a busy stream: zero when everything so far is complete; NULL: nothing was begun */
  atmi_signal_t **signals; /* all that operations since then used or waited for, the tail included */
  uint32_t signal_count, signal_capacity;
  uint32_t wait_count, spare_count;
  atmi_signal_t *waits[ATMI_STREAM_WAITS]; /* what the next operation must wait for besides the tail */
  /* Retired signals that the stream keeps for itself, so that an operation touches nothing that other threads
   * touch too. */
  atmi_signal_t *spares[ATMI_STREAM_SPARES];

  atmi_stream_duty_t *duties;
  uint32_t duty_count, duty_capacity;
  atmi_arena_t kernargs, staging;
  /* Staging memory of its own, for copies of a stream that is done (see atmi_transfer.h); the own signal
   * tells when it is free. NULL and 0: none yet. */
  char *slot;
  _Atomic size_t slot_bytes; /* 0 also once the device is lost: another thread says so */
  void *workspace;           /* device memory, see atmi_stream_workspace */
  uint64_t workspace_bytes;
  uint32_t served_count; /* kernels begun that may call their host (atmi_service) */

  struct atmi_stream_note *notes; /* for the timeline, see atmi_stream_trace.h */
  uint32_t note_count, note_capacity;
};

/* What a launch is told besides the kernel. */
typedef struct atmi_launch {
  bool has_leading; /* `leading` goes in front of the other words */
  uint64_t leading;
  void *const *arguments; /* explicit words, see atmi_kernarg_fill */
  const ptrdiff_t *offsets;
  uint32_t argument_count;
  /* Workgroups, and work-items in each, by dimension; the product fits 32 bits in each dimension, and that of
   * all work-items of a group the device. */
  uint32_t groups[3], group[3];
  uint32_t dynamic_lds_bytes;
} atmi_launch_t;

/* Whether the launch must not run at the same time as others of which this is true: because the kernel says
 * so, or because together they could want more scratch memory than there is. */
bool atmi_stream_runs_alone(const atmi_stream_t *stream, const atmi_kernel_t *kernel,
                            const atmi_launch_t *launch);

/* Called by the device for its pool. */
void atmi_stream_pool_init(atmi_device_t *device);

/* An idle stream of the device, preferably the one that this thread had last, and its return. Putting a
 * stream that is not idle waits for it. */
ATMI_MUST_CHECK atmi_status_t atmi_stream_take_any(atmi_device_t *device, atmi_stream_t **stream);
void atmi_stream_put_any(atmi_stream_t *stream);

/* After the device was lost: no stream of it copies through its slot any more. */
void atmi_stream_pool_abandon(atmi_device_t *device);

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
  /* Acquire pairs with the release of the put: the stream is seen as its last user left it. */
  atmi_stream_t *stream = atomic_exchange_explicit(&place->stream, NULL, memory_order_acquire);
  if (stream) {
    stream->place = place;
    atomic_store_explicit(&stream->taken, true, memory_order_relaxed);
  }
  return stream;
}

ATMI_MUST_CHECK static inline atmi_status_t atmi_stream_take(atmi_device_t *device, atmi_stream_t **stream) {
  *stream = atmi_stream_take_own(device);
  return *stream ? ATMI_OK : atmi_stream_take_any(device, stream);
}

/* Puts an idle stream. */
static inline void atmi_stream_put_idle(atmi_stream_t *stream) {
  if (stream->holds_queue) {
    stream->holds_queue = false;
    atmi_queue_release(stream->queue);
  }
  atomic_store_explicit(&stream->taken, false, memory_order_release);
  atmi_stream_t *nobodys = NULL;
  /* Release publishes the stream to whoever takes it from the place. */
  if (!atomic_compare_exchange_strong_explicit(&stream->place->stream, &nobodys, stream, memory_order_release,
                                               memory_order_relaxed))
    atmi_pool_put(&stream->device->streams, stream);
}

static inline void atmi_stream_put(atmi_stream_t *stream) {
  if (stream->phase != ATMI_STREAM_IDLE)
    atmi_stream_put_any(stream);
  else
    atmi_stream_put_idle(stream);
}

/* Each of these begins an operation that starts when all earlier ones of the stream are complete. They return
 * at once; only while the ring is full do they wait. Failures are described. Transfers are in
 * atmi_transfer.h. */
ATMI_MUST_CHECK atmi_status_t atmi_stream_launch(atmi_stream_t *stream, const atmi_kernel_t *kernel,
                                                 const atmi_launch_t *launch);
/* Addresses must be accessible to both agents. `what` names the operation in messages; it takes staging
 * memory back when the stream is idle. */
ATMI_MUST_CHECK atmi_status_t atmi_stream_copy(atmi_stream_t *stream, void *destination,
                                               hsa_agent_t destination_agent, const void *source,
                                               hsa_agent_t source_agent, size_t bytes, const char *what);

/* Device memory of the stream's own, `bytes` long at least, which operations of the stream use one after the
 * other and nobody else does. `*fresh` if the block was not returned before; its content is undefined then,
 * and else as the stream's operations left it. Fails with ATMI_NO_MEMORY or ATMI_HSA_FAILED, described. */
ATMI_MUST_CHECK atmi_status_t atmi_stream_workspace(atmi_stream_t *stream, uint64_t bytes, void **block,
                                                    bool *fresh);

/* Room for `count` more duties, so that adding them cannot fail once the operation has begun. */
ATMI_MUST_CHECK atmi_status_t atmi_stream_grow_duties(atmi_stream_t *stream, uint32_t count);

ATMI_MUST_CHECK static inline atmi_status_t atmi_stream_reserve_duties(atmi_stream_t *stream,
                                                                       uint32_t count) {
  return count <= stream->duty_capacity - stream->duty_count ? ATMI_OK
                                                             : atmi_stream_grow_duties(stream, count);
}

static inline void atmi_stream_add_duty(atmi_stream_t *stream, const atmi_stream_duty_t *duty) {
  stream->duties[stream->duty_count++] = *duty;
  stream->phase |= ATMI_STREAM_OWING;
}

/* The next operation also waits for this signal, which may be of another stream or device. Takes no reference
 * away from the caller. Waits on the host only if more than ATMI_STREAM_WAITS are open. */
ATMI_MUST_CHECK atmi_status_t atmi_stream_wait_for(atmi_stream_t *stream, atmi_signal_t *signal);

/* Waits on the host for what the next operation would wait for. A failure stays with the signals and is found
 * by atmi_stream_synchronize. */
void atmi_stream_settle_waits(atmi_stream_t *stream);

/* A mark of the signal that is zero when everything so far is complete. The stream's next operation does not
 * count into that signal, so that no cycle of waits can come of it. 0: nothing was begun. */
atmi_signal_mark_t atmi_stream_close_tail(atmi_stream_t *stream);

/* What a general launch fills its argument block with, and its packet. */
void atmi_stream_fill_arguments(const atmi_stream_t *stream, const atmi_kernel_t *kernel,
                                const atmi_launch_t *launch, void *block);

static inline atmi_dispatch_t atmi_stream_dispatch(const atmi_kernel_t *kernel, const atmi_launch_t *launch,
                                                   void *block) {
  return (atmi_dispatch_t){
      .kernel_object = kernel->object,
      .group = {launch->group[0], launch->group[1], launch->group[2]},
      .grid = {launch->group[0] * launch->groups[0], launch->group[1] * launch->groups[1],
               launch->group[2] * launch->groups[2]},
      .private_bytes = kernel->private_bytes,
      .group_bytes = kernel->group_bytes + launch->dynamic_lds_bytes,
      .kernarg = block,
  };
}

/* atmi_stream_synchronize, whatever the stream has done. */
ATMI_MUST_CHECK atmi_status_t atmi_stream_synchronize_all(atmi_stream_t *stream);

/* Waits for all operations and does the host's part; the stream is idle afterwards, also if it failed. Fails
 * with ATMI_LOST after a fault, which was described when it happened. */
ATMI_MUST_CHECK static inline atmi_status_t atmi_stream_synchronize(atmi_stream_t *stream) {
  return stream->phase == ATMI_STREAM_IDLE ? ATMI_OK : atmi_stream_synchronize_all(stream);
}

/* Makes the stream's own signal if it has none. False without resources, and with a timeline. */
bool atmi_stream_has_own(atmi_stream_t *stream);

/* Whether the stream's own signal is complete, not by a fault. */
static inline bool atmi_stream_own_is_complete(const atmi_stream_t *stream) {
  /* Acquire pairs with the release by which the device counts the operation down after its last write; or
   * with that by which atmi_signal_pool_abandon lets go of it, and then we see that the device is lost. */
  return !__atomic_load_n(stream->own_value, __ATOMIC_ACQUIRE) && !atmi_device_is_lost(stream->device);
}

/* Whether all operations so far are known to be complete, none was marked by an event, and what comes next
 * can use the stream's own signal. */
static inline bool atmi_stream_is_at_rest(const atmi_stream_t *stream) {
  return stream->phase < ATMI_STREAM_BUSY && atmi_stream_own_is_complete(stream);
}

/* The same, and no duties are left. */
static inline bool atmi_stream_is_done(const atmi_stream_t *stream) {
  return stream->phase < ATMI_STREAM_OWING && atmi_stream_own_is_complete(stream);
}

/* Does the host's part of what is complete. */
void atmi_stream_do_duties(atmi_stream_t *stream, bool complete);

/* Begins a copy by the stream's own signal, which has just begun a use for it: as atmi_stream_copy, but for
 * what is described. */
ATMI_MUST_CHECK static inline __attribute__((always_inline)) hsa_status_t
atmi_stream_copy_by_own(const atmi_stream_t *stream, void *destination, hsa_agent_t destination_agent,
                        const void *source, hsa_agent_t source_agent, size_t bytes) {
  return hsa_amd_memory_async_copy(destination, destination_agent, source, source_agent, bytes, 0, NULL,
                                   stream->own->hsa);
}

/* Takes back that the copy began, describes why, and returns what is wrong. */
atmi_status_t atmi_stream_copy_refused(atmi_stream_t *stream, hsa_status_t hsa, const char *what,
                                       size_t bytes, const void *source, const void *destination);

/* Makes the stream idle if it is at rest. False, and nothing changed, otherwise. */
static inline bool atmi_stream_settle(atmi_stream_t *stream) {
  if (!atmi_stream_is_at_rest(stream))
    return false;
  if (stream->phase & ATMI_STREAM_OWING)
    atmi_stream_do_duties(stream, true);
  if (stream->phase & ATMI_STREAM_STAGED)
    atmi_arena_reset(&stream->staging);
  stream->phase = ATMI_STREAM_IDLE;
  return true;
}

/* As atmi_stream_synchronize if all operations are complete; else ATMI_PENDING, at once. */
ATMI_MUST_CHECK atmi_status_t atmi_stream_query(atmi_stream_t *stream);

#endif
