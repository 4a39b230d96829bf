/* Streams: the list of outstanding operations, how the next one is ordered behind it, and what happens when
 * all are complete. Not here: launches (stream/plan). */
#include "stream/stream.h"

#include "base/hsa.h"
#include "services/hostcall_queue.h"
#include "stream/plan.h"

#include <stdlib.h>
#include <string.h>

/* ---- the pool ---- */

static atmi_status_t make_stream(void *object, void *context) {
  atmi_stream_t *stream = object;
  atmi_device_t *device = context;
  stream->device = device;
  stream->place = &device->idle_streams[0];
  stream->device_number = device->number;
  stream->readable[0] = stream->writable[0] = 1; /* not the first page of all, in which nothing is */
  stream->agent = device->agent;
  stream->cpu = device->machine->cpu;
  stream->timeline = device->machine->timeline;
  stream->kernargs =
      (atmi_arena_t){.pool = &device->kernarg_blocks, .block_bytes = device->kernarg_backing.block_bytes};
  stream->staging =
      (atmi_arena_t){.pool = &device->staging_blocks, .block_bytes = device->staging_backing.block_bytes};
  return ATMI_OK;
}

static void destroy_stream(void *object, void *context) {
  atmi_stream_t *stream = object;
  (void)context;
  free(stream->operations);
  atmi_plans_destroy(stream->plans);
}

void atmi_stream_pool_init(atmi_device_t *device) {
  atmi_pool_init(&device->streams, sizeof(atmi_stream_t), make_stream, destroy_stream, device);
}

atmi_status_t atmi_stream_take_any(atmi_device_t *device, atmi_stream_t **stream) {
  void *object;
  atmi_status_t status = atmi_pool_take(&device->streams, &object);
  if (status)
    return atmi_fail(status, device->label, "cannot make a stream: out of host memory");
  *stream = object;
  atomic_store_explicit(&(*stream)->place, atmi_stream_place(device), memory_order_relaxed);
  atomic_store_explicit(&(*stream)->pooled, false, memory_order_relaxed);
  return ATMI_OK;
}

void atmi_stream_put_into_pool(atmi_stream_t *stream) {
  /* Release: who finds it there finds that nothing is outstanding. */
  atomic_store_explicit(&stream->pooled, true, memory_order_release);
  atmi_pool_put(&stream->device->streams, stream);
}

/* Acquire: what the device did for an idle stream is over. */
static bool is_idle(atmi_stream_t *stream) {
  atmi_stream_place_t *place = atomic_load_explicit(&stream->place, memory_order_relaxed);
  return atomic_load_explicit(&stream->pooled, memory_order_acquire) ||
         atomic_load_explicit(&place->stream, memory_order_acquire) == stream;
}

bool atmi_stream_is_any_taken(atmi_device_t *device) {
  uint32_t count = atmi_pool_count(&device->streams);
  for (uint32_t i = 0; i < count; i++) {
    if (!is_idle(atmi_pool_at(&device->streams, i)))
      return true;
  }
  return false;
}

void atmi_stream_put_any(atmi_stream_t *stream) {
  /* A failure was described by whoever caused it; here the operations only have to be over. */
  atmi_status_t ended = atmi_stream_synchronize(stream);
  (void)ended;
  atmi_stream_put_idle(stream);
}

/* ---- what the timeline is told ---- */

static void note(atmi_stream_t *stream, atmi_span_t span) {
  span.device = (int32_t)stream->device->number;
  span.lane = stream->link.index;
  stream->operations[stream->count - 1].note = atmi_note_begin(stream->timeline, span);
  stream->owes |= ATMI_OWES_MORE;
}

void atmi_stream_note_kernel(atmi_stream_t *stream, const atmi_kernel_t *kernel,
                             const hsa_kernel_dispatch_packet_t *packet) {
  uint32_t threads = (uint32_t)packet->workgroup_size_x * packet->workgroup_size_y * packet->workgroup_size_z;
  uint64_t items = (uint64_t)packet->grid_size_x * packet->grid_size_y * packet->grid_size_z;
  note(stream, (atmi_span_t){.name = kernel->name,
                             .category = "kernel",
                             .teams = (uint32_t)(items / threads),
                             .threads = threads});
}

void atmi_stream_note_copy(atmi_stream_t *stream, const char *what, size_t bytes) {
  note(stream, (atmi_span_t){.name = what, .category = "copy", .has_bytes = true, .bytes = bytes});
}

/* ---- the list ---- */

static void deliver(const atmi_operation_t *operation) {
  const atmi_aftermath_t *after = &operation->after;
  if (!(operation->owes & ATMI_OWES_PIECES)) {
    memcpy(after->host, after->staged, after->bytes);
    return;
  }
  const atmi_piece_t *end = after->pieces + after->bytes;
  for (const atmi_piece_t *piece = after->pieces; piece < end; piece++)
    memcpy(piece->host, (const char *)after->staged + piece->offset, piece->bytes);
}

/* The host's part of a copy that is over. After a fault the device may still touch pinned memory, so nothing
 * of it is given back: it goes when the device is released. */
static void end_copy(atmi_stream_t *stream, const atmi_operation_t *operation, atmi_status_t status) {
  const atmi_aftermath_t *after = &operation->after;
  if (status == ATMI_LOST)
    return;
  if (operation->owes & ATMI_OWES_BYTES && !status)
    deliver(operation);
  if (operation->owes & ATMI_OWES_PIN)
    atmi_host_unpin(&stream->device->machine->host_locks, after->pin);
  if (operation->owes & ATMI_OWES_BLOCK)
    atmi_pool_put(&stream->device->large_staging_blocks, after->block);
}

static inline void end_operation(atmi_stream_t *stream, atmi_operation_t *operation, atmi_status_t status) {
  if (operation->kind == ATMI_OPERATION_WAIT) {
    atmi_signal_unref(operation->signal);
    operation->signal = operation->own;
    return;
  }
  if (stream->timeline) {
    atmi_note_end(stream->timeline, operation->note, stream->device->agent, operation->signal->hsa,
                  status != ATMI_OK);
    operation->note = NULL;
  }
  if (operation->kind == ATMI_OPERATION_COPY && operation->owes)
    end_copy(stream, operation, status);
}

/* Places from this one on have to be looked at. */
static void limit_prepared(atmi_stream_t *stream, uint32_t place) {
  if (stream->prepared > place)
    stream->prepared = place;
  if (stream->prepared)
    return;
  stream->slot_bytes = 0;
  stream->ready_plans = NULL;
}

/* Moves the first `count` places behind all others, whose order stays. */
static void rotate(atmi_stream_t *stream, uint32_t count) {
  for (uint32_t i = 0; i + count < stream->count; i++) {
    atmi_operation_t first = stream->operations[i];
    stream->operations[i] = stream->operations[i + count];
    stream->operations[i + count] = first;
  }
}

/* How many operations at the head of the list are over and needed by nobody. The last complete one is needed:
 * what waits for it may not have looked at its signal yet, and would take the next use for this one. */
static uint32_t count_over(const atmi_stream_t *stream) {
  uint32_t last = 0;
  for (uint32_t i = 0; i < stream->count && atmi_signal_is_complete(stream->operations[i].signal); i++)
    if (stream->operations[i].kind != ATMI_OPERATION_WAIT)
      last = i;
  return last;
}

/* Ends these, so that their places serve again. */
static __attribute__((noinline, cold)) void end_head(atmi_stream_t *stream) {
  uint32_t count = count_over(stream);
  for (uint32_t i = 0; i < count; i++)
    end_operation(stream, &stream->operations[i], ATMI_OK);
  if (!count)
    return;
  rotate(stream, count);
  stream->count -= count;
  /* The next operation may fail to begin, for want of memory; then this one stays the only one. */
  stream->first_value = stream->operations->signal->value;
  limit_prepared(stream, 0);
}

static __attribute__((noinline, cold)) bool grow(atmi_stream_t *stream) {
  enum { FIRST = 32 };
  uint32_t capacity = stream->capacity ? 2 * stream->capacity : FIRST;
  atmi_operation_t *longer = realloc(stream->operations, capacity * sizeof *longer);
  if (!longer)
    return false;
  memset(longer + stream->capacity, 0, (capacity - stream->capacity) * sizeof *longer);
  stream->operations = longer;
  stream->capacity = capacity;
  return true;
}

/* Room for one more operation. */
static bool make_room(atmi_stream_t *stream) {
  if (stream->count == stream->capacity)
    end_head(stream);
  if (stream->count < stream->capacity || grow(stream))
    return true;
  atmi_fail(ATMI_NO_MEMORY, stream->device->label, "cannot begin an operation: out of host memory");
  return false;
}

atmi_operation_t *atmi_stream_prepare(atmi_stream_t *stream) {
  if (!make_room(stream))
    return NULL;
  atmi_operation_t *next = &stream->operations[stream->count];
  /* Who has a mark may still look at the signal. */
  if (next->signal && next->signal->known && !atmi_signal_retire(next->signal)) {
    atmi_signal_unref(next->signal);
    next->signal = NULL;
  }
  if (!next->signal && atmi_signal_take(&stream->device->signals, &next->signal))
    return NULL;
  if (!stream->count)
    stream->first_value = next->signal->value;
  if (stream->prepared == stream->count) {
    stream->prepared++;
    stream->ready_plans = stream->plans;
  }
  atmi_signal_begin(next->signal);
  return next;
}

/* ---- order ---- */

/* What the next operation must wait for besides the queue's own order. */
enum { MOST_DEPENDENCIES = 16 };
typedef struct dependencies {
  atmi_signal_t *signals[MOST_DEPENDENCIES];
  uint32_t count;
} dependencies_t;

/* Adds a signal unless it is complete. With no room left, waits on the host. */
static atmi_status_t depend_on(dependencies_t *dependencies, atmi_signal_t *signal) {
  atmi_status_t status = atmi_signal_query(signal);
  if (status != ATMI_PENDING)
    return status;
  if (dependencies->count == MOST_DEPENDENCIES)
    return atmi_signal_wait(signal, 0);
  dependencies->signals[dependencies->count++] = signal;
  return ATMI_OK;
}

/* The waits at the end of the list, and the last operation before them, unless `in_order` says that the next
 * one is behind it anyway. */
static __attribute__((noinline)) atmi_status_t collect_all(const atmi_stream_t *stream, bool in_order,
                                                           dependencies_t *dependencies) {
  atmi_status_t status = ATMI_OK;
  for (uint32_t i = stream->count; !status && i-- > 0;) {
    atmi_operation_t *operation = &stream->operations[i];
    bool is_wait = operation->kind == ATMI_OPERATION_WAIT;
    if (is_wait || !in_order)
      status = depend_on(dependencies, operation->signal);
    if (!is_wait)
      break;
  }
  return status;
}

/* Mostly there are no waits, and what came before is complete: then there is nothing to wait for. */
static inline bool is_over(const atmi_stream_t *stream) {
  if (!stream->count)
    return true;
  const atmi_operation_t *last = &stream->operations[stream->count - 1];
  return last->kind != ATMI_OPERATION_WAIT && atmi_signal_is_complete(last->signal);
}

static inline atmi_status_t collect(const atmi_stream_t *stream, bool in_order,
                                    dependencies_t *dependencies) {
  dependencies->count = 0;
  return is_over(stream) ? ATMI_OK : collect_all(stream, in_order, dependencies);
}

/* The last operation that is not a wait, or NULL. */
static atmi_operation_t *last_own(const atmi_stream_t *stream) {
  for (uint32_t i = stream->count; i-- > 0;)
    if (stream->operations[i].kind != ATMI_OPERATION_WAIT)
      return &stream->operations[i];
  return NULL;
}

/* Describes why nothing can begin behind an operation that has ended in this way. */
static atmi_status_t refuse(const atmi_stream_t *stream, atmi_status_t status, const char *what) {
  if (status == ATMI_LOST)
    return atmi_device_refuse(stream->device, what);
  if (status == ATMI_HSA_FAILED)
    return atmi_fail(status, stream->device->label,
                     "cannot %s: a copy before it failed: the DMA engine reported an error", what);
  return status;
}

atmi_status_t atmi_stream_order_kernel(atmi_stream_t *stream, bool *barrier) {
  dependencies_t dependencies;
  *barrier = false;
  if (is_over(stream))
    return ATMI_OK;
  const atmi_operation_t *last = last_own(stream);
  bool follows = !stream->moved && last && last->kind == ATMI_OPERATION_KERNEL;
  atmi_status_t status = collect(stream, follows, &dependencies);
  if (!status)
    status = atmi_queue_wait(stream->queue, dependencies.signals, dependencies.count);
  *barrier = follows || dependencies.count;
  return refuse(stream, status, "launch a kernel");
}

atmi_status_t atmi_stream_wait_for(atmi_stream_t *stream, atmi_signal_t *signal) {
  atmi_status_t status = atmi_signal_query(signal);
  if (status != ATMI_PENDING)
    return status;
  if (!make_room(stream))
    return ATMI_NO_MEMORY;
  atmi_signal_ref(signal);
  atmi_operation_t *wait = &stream->operations[stream->count++];
  wait->kind = ATMI_OPERATION_WAIT;
  wait->own = wait->signal;
  wait->signal = signal;
  stream->owes |= ATMI_OWES_MORE;
  return ATMI_OK;
}

/* ---- copies ---- */

/* Gives back what a copy holds that has not begun. */
static atmi_status_t drop_copy(atmi_stream_t *stream, const atmi_operation_t *operation,
                               atmi_status_t status) {
  atmi_signal_cancel(operation->signal);
  /* The device does not know of it, even if it is lost. */
  end_copy(stream, operation, ATMI_HSA_FAILED);
  return status;
}

atmi_status_t atmi_stream_copy_refused(atmi_stream_t *stream, atmi_operation_t *operation, hsa_status_t hsa,
                                       const char *what, const void *destination, const void *source,
                                       size_t bytes) {
  atmi_status_t status =
      atmi_fail(atmi_status_from_hsa(hsa), stream->device->label, "cannot %s (%zu bytes from %p to %p): %s",
                what, bytes, source, destination, atmi_hsa_reason(hsa));
  return drop_copy(stream, operation, status);
}

atmi_status_t atmi_stream_copy(atmi_stream_t *stream, atmi_operation_t *operation, const char *what,
                               void *destination, hsa_agent_t destination_agent, const void *source,
                               hsa_agent_t source_agent, size_t bytes) {
  dependencies_t dependencies;
  hsa_signal_t handles[MOST_DEPENDENCIES];
  atmi_status_t status = collect(stream, false, &dependencies);
  if (status)
    return drop_copy(stream, operation, refuse(stream, status, what));
  for (uint32_t i = 0; i < dependencies.count; i++)
    handles[i] = dependencies.signals[i]->hsa;
  hsa_status_t hsa = hsa_amd_memory_async_copy(destination, destination_agent, source, source_agent, bytes,
                                               dependencies.count, dependencies.count ? handles : NULL,
                                               operation->signal->hsa);
  if (hsa != HSA_STATUS_SUCCESS)
    return atmi_stream_copy_refused(stream, operation, hsa, what, destination, source, bytes);
  operation->kind = ATMI_OPERATION_COPY;
  atmi_stream_add_copy(stream, operation->owes, what, bytes);
  return ATMI_OK;
}

static bool overlap(const void *one, size_t bytes, const void *other, size_t other_bytes) {
  uintptr_t begin = (uintptr_t)one, other_begin = (uintptr_t)other;
  return begin < other_begin + other_bytes && other_begin < begin + bytes;
}

static bool will_write(const atmi_operation_t *operation, const void *host, size_t bytes) {
  const atmi_aftermath_t *after = &operation->after;
  if (operation->kind != ATMI_OPERATION_COPY || !(operation->owes & ATMI_OWES_RESULT))
    return false;
  if (!(operation->owes & ATMI_OWES_PIECES))
    return overlap(after->host, after->bytes, host, bytes);
  for (size_t i = 0; i < after->bytes; i++)
    if (overlap(after->pieces[i].host, after->pieces[i].bytes, host, bytes))
      return true;
  return false;
}

bool atmi_stream_will_write(const atmi_stream_t *stream, const void *host, size_t bytes) {
  for (uint32_t i = 0; i < stream->count; i++)
    if (will_write(&stream->operations[i], host, bytes))
      return true;
  return false;
}

atmi_status_t atmi_stream_workspace(atmi_stream_t *stream, uint64_t bytes, void **block, bool *fresh) {
  *fresh = bytes > stream->workspace_bytes;
  if (*fresh) {
    /* Kernels of this stream may still use the smaller block, so it stays until the device is released. Twice
     * the size each time, so that such blocks never add up to more than the last one. */
    uint64_t twice = 2 * stream->workspace_bytes, larger = bytes > twice ? bytes : twice;
    void *memory;
    atmi_status_t status = atmi_memory_allocate(&stream->device->memory, larger, ATMI_MEMORY_DEVICE, &memory);
    if (status)
      return status;
    stream->workspace = memory;
    stream->workspace_bytes = larger;
  }
  *block = stream->workspace;
  return ATMI_OK;
}

/* ---- completion ---- */

enum { KEPT_PLACES = 32 };

/* Signals of places that only a long list used go back to their pool. */
static __attribute__((noinline, cold)) void shorten(atmi_stream_t *stream) {
  for (uint32_t i = KEPT_PLACES; i < stream->count; i++) {
    atmi_signal_unref(stream->operations[i].signal);
    stream->operations[i].signal = NULL;
  }
  limit_prepared(stream, KEPT_PLACES);
}

/* A signal that a fault has let go of keeps its reference, so that marks of it still lead to the loss; the
 * device may count it down yet. */
static __attribute__((noinline, cold)) void abandon(atmi_stream_t *stream) {
  for (uint32_t i = 0; i < stream->count; i++) {
    atmi_operation_t *operation = &stream->operations[i];
    if (operation->kind == ATMI_OPERATION_WAIT || atmi_signal_is_complete(operation->signal))
      continue;
    atmi_signal_abandon(operation->signal);
    operation->signal = NULL;
    limit_prepared(stream, i);
  }
  atmi_arena_abandon(&stream->kernargs);
  atmi_arena_abandon(&stream->staging);
}

/* What was lost with another device is over all the same: only of our own device something may be left that
 * is still at work. */
static void end_list(atmi_stream_t *stream, atmi_status_t status) {
  if (status == ATMI_LOST && !atmi_device_is_lost(stream->device))
    status = ATMI_HSA_FAILED;
  atmi_operation_t *end = stream->operations + stream->count;
  for (atmi_operation_t *operation = stream->operations; operation < end; operation++)
    end_operation(stream, operation, status);
  if (status == ATMI_LOST)
    abandon(stream);
  if (stream->count > KEPT_PLACES)
    shorten(stream);
  if (stream->served_count)
    atmi_service_end(&stream->device->machine->service, stream->served_count);
  stream->served_count = 0;
}

static inline void forget_list(atmi_stream_t *stream) {
  if (stream->owes & ATMI_OWES_ARENAS) {
    atmi_arena_reset(&stream->kernargs);
    atmi_arena_reset(&stream->staging);
  }
  stream->count = stream->owes = 0;
}

atmi_status_t atmi_stream_judge(const atmi_stream_t *stream) {
  atmi_status_t failure = ATMI_OK;
  /* From the end: while anything is pending, the last operation is. */
  for (uint32_t i = stream->count; i-- > 0;) {
    atmi_status_t status = atmi_signal_query(stream->operations[i].signal);
    if (status == ATMI_PENDING)
      return status;
    failure = failure ? failure : status;
  }
  return failure;
}

/* From the end, as there. */
static inline bool are_complete(const atmi_stream_t *stream) {
  const atmi_operation_t *operation = stream->operations + stream->count;
  while (operation > stream->operations)
    if (!atmi_signal_is_complete((--operation)->signal))
      return false;
  return true;
}

bool atmi_stream_settle_list(atmi_stream_t *stream) {
  if (atmi_stream_settle_copy(stream))
    return true;
  if (!are_complete(stream))
    return false;
  end_list(stream, ATMI_OK);
  forget_list(stream);
  return true;
}

/* Waits for one operation, and has those begin that wait for one which failed. Another stream's is released
 * by that stream, which must see the failure first. */
static atmi_status_t wait_for(const atmi_operation_t *operation) {
  atmi_status_t status = atmi_signal_query(operation->signal);
  if (status == ATMI_PENDING)
    status = atmi_signal_wait(operation->signal, 0);
  if (status == ATMI_HSA_FAILED && operation->kind != ATMI_OPERATION_WAIT)
    atmi_signal_release(operation->signal);
  return status;
}

/* Releases what waits for a copy that failed; ATMI_HSA_FAILED if there is one. */
static __attribute__((noinline, cold)) atmi_status_t release_failed(const atmi_stream_t *stream) {
  atmi_status_t result = ATMI_OK;
  for (uint32_t i = 0; i < stream->count; i++)
    if (atmi_signal_query(stream->operations[i].signal) == ATMI_HSA_FAILED)
      result = wait_for(&stream->operations[i]);
  return result;
}

/* Waits until nothing is pending, and says what went wrong first. One wait, for the last operation, as each
 * follows those before it; but what waits for a copy that failed would wait for ever, so that is looked for
 * now and then. Then each is looked at: nothing is recycled that the device may still use, whatever its order
 * was. */
static atmi_status_t wait_for_all(const atmi_stream_t *stream) {
  enum { LOOKS_PER_SECOND = 20 };
  const atmi_machine_t *machine = stream->device->machine;
  uint64_t pause = machine->timestamp_frequency / LOOKS_PER_SECOND + 1; /* never no time at all */
  int64_t busy_us = machine->env->busy_wait_us;
  atmi_status_t result = ATMI_OK;
  while (stream->count && atmi_signal_wait_a_while(stream->operations[stream->count - 1].signal, busy_us,
                                                   pause) == ATMI_PENDING) {
    atmi_status_t status = release_failed(stream);
    result = result ? result : status;
    busy_us = 0;
  }
  for (uint32_t i = 0; i < stream->count; i++) {
    atmi_status_t status = wait_for(&stream->operations[i]);
    result = result ? result : status;
  }
  return result;
}

atmi_status_t atmi_stream_synchronize_list(atmi_stream_t *stream) {
  uint64_t begin = stream->timeline ? atmi_timeline_now() : 0;
  atmi_status_t status = wait_for_all(stream);
  if (status == ATMI_HSA_FAILED)
    atmi_fail(status, stream->device->label,
              "a copy between host and device failed: the DMA engine reported an error");
  if (begin)
    atmi_timeline_host(stream->timeline, "wait", "wait for the device", begin);
  end_list(stream, status);
  forget_list(stream);
  return status;
}

atmi_status_t atmi_stream_query(atmi_stream_t *stream) {
  return atmi_stream_judge(stream) == ATMI_PENDING ? ATMI_PENDING : atmi_stream_synchronize(stream);
}

atmi_status_t atmi_stream_mark(atmi_stream_t *stream, atmi_signal_mark_t *mark) {
  *mark = 0;
  if (atmi_stream_settle_plain(stream))
    return ATMI_OK;
  /* No signal tells when the host has moved bytes that the device retrieved: another stream that waits for
   * one could put newer bytes there first, and see them replaced by these. */
  if (stream->owes & ATMI_OWES_BYTES)
    return atmi_stream_synchronize(stream);
  for (uint32_t i = stream->count; i-- > 0;) {
    atmi_operation_t *operation = &stream->operations[i];
    if (operation->kind != ATMI_OPERATION_WAIT) {
      if (atmi_signal_is_complete(operation->signal))
        return ATMI_OK;
      *mark = atmi_signal_mark(operation->signal);
      limit_prepared(stream, i);
      return ATMI_OK;
    }
    /* A failure stays with the signal, and is found when the stream is synchronised. */
    atmi_status_t status = atmi_signal_wait(operation->signal, 0);
    (void)status;
  }
  return ATMI_OK;
}
