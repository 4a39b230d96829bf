/* Packets, argument blocks and completion signals between host threads and a device, which is a thread here
 * that takes its time; functions of this test stand in for ROCr's. So the orders of both sides are in code
 * that ThreadSanitizer sees: what is published too early, freed too late or read too soon is a race for it,
 * and mostly a wrong number without it. */
#include "plugin_test.h"

#include "device/queue.h"
#include "openmp/context.h"
#include "stream/stream.h"

#include <hsa/amd_hsa_queue.h>
#include <hsa/amd_hsa_signal.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PACKETS = 64, THREADS = 4, ROUNDS = 1500, WORDS = 8, DOORBELL = 64, PEERS = 2 };

static struct {
  amd_queue_t queue;
  hsa_kernel_dispatch_packet_t ring[PACKETS];
  atomic_bool stop, lost;
  atomic_uint early_doorbells, early_ends, wrong_packets, wrong_results, failures;
  _Atomic(atmi_signal_t *) awaited; /* of a device that is given up */
  uint64_t runs;
} the;

/* What a launch gives the device. The words and the answer are plain memory, as a program's is. */
typedef struct block {
  uint64_t words[WORDS];
  uint64_t answer;
} block_t;

/* ---- in the places of ROCr's functions ---- */

static hsa_status_t create_queue(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
                                 void (*callback)(hsa_status_t, hsa_queue_t *, void *), void *data,
                                 uint32_t private_bytes, uint32_t group_bytes, hsa_queue_t **queue) {
  (void)agent, (void)type, (void)callback, (void)data, (void)private_bytes, (void)group_bytes;
  memset(&the.queue, 0, sizeof the.queue);
  for (unsigned i = 0; i < PACKETS; i++)
    the.ring[i].header = HSA_PACKET_TYPE_INVALID;
  the.queue.hsa_queue.size = size;
  the.queue.hsa_queue.base_address = the.ring;
  the.queue.hsa_queue.doorbell_signal.handle = DOORBELL;
  *queue = &the.queue.hsa_queue;
  return HSA_STATUS_SUCCESS;
}

static hsa_status_t destroy_queue(hsa_queue_t *queue) {
  (void)queue;
  return HSA_STATUS_SUCCESS;
}

static hsa_status_t pointer_info(const void *pointer, hsa_amd_pointer_info_t *info, void *(*allocate)(size_t),
                                 uint32_t *count, hsa_agent_t **agents) {
  (void)pointer, (void)allocate, (void)count, (void)agents;
  info->type = HSA_EXT_POINTER_TYPE_UNKNOWN;
  return HSA_STATUS_SUCCESS;
}

static uint64_t add_write_index(const hsa_queue_t *queue, uint64_t value) {
  (void)queue;
  return __atomic_fetch_add(&the.queue.write_dispatch_id, value, __ATOMIC_RELAXED);
}

static uint64_t load_read_index(const hsa_queue_t *queue) {
  (void)queue;
  return __atomic_load_n(&the.queue.read_dispatch_id, __ATOMIC_ACQUIRE);
}

static bool is_published(uint64_t index) {
  const uint16_t header = __atomic_load_n(&the.ring[index % PACKETS].header, __ATOMIC_RELAXED);
  return (header & 0xff) != HSA_PACKET_TYPE_INVALID ||
         __atomic_load_n(&the.queue.read_dispatch_id, __ATOMIC_RELAXED) > index;
}

static void store_signal(hsa_signal_t signal, hsa_signal_value_t value) {
  const atmi_signal_t *awaited = atomic_load(&the.awaited);
  if (awaited && awaited->hsa.handle == signal.handle && !atomic_load(&awaited->lost))
    atomic_fetch_add(&the.early_ends, 1); /* it would look complete */
  if (signal.handle != DOORBELL)
    __atomic_store_n(&((amd_signal_t *)(uintptr_t)signal.handle)->value, value, __ATOMIC_RELEASE);
  else if (!is_published((uint64_t)value))
    atomic_fetch_add_explicit(&the.early_doorbells, 1, memory_order_relaxed);
}

static hsa_status_t create_signal(hsa_signal_value_t value, uint32_t count, const hsa_agent_t *consumers,
                                  hsa_signal_t *signal) {
  (void)count, (void)consumers;
  amd_signal_t *made = aligned_alloc(64, sizeof *made);
  assert_non_null(made);
  memset(made, 0, sizeof *made);
  made->value = value;
  signal->handle = (uintptr_t)made;
  return HSA_STATUS_SUCCESS;
}

static hsa_status_t destroy_signal(hsa_signal_t signal) {
  free((void *)(uintptr_t)signal.handle);
  return HSA_STATUS_SUCCESS;
}

/* Ends before its time, as it may; and orders nothing, so that whoever asks must. */
static hsa_signal_value_t wait_signal(hsa_signal_t signal, hsa_signal_condition_t condition,
                                      hsa_signal_value_t value, uint64_t timeout, hsa_wait_state_t state) {
  (void)condition, (void)value, (void)timeout, (void)state;
  nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
  return __atomic_load_n(&((amd_signal_t *)(uintptr_t)signal.handle)->value, __ATOMIC_RELAXED);
}

static void take_places(void) {
  hsa_queue_create = create_queue;
  hsa_queue_destroy = destroy_queue;
  hsa_amd_pointer_info = pointer_info;
  hsa_queue_add_write_index_relaxed = add_write_index;
  hsa_queue_load_read_index_scacquire = load_read_index;
  hsa_signal_store_screlease = store_signal;
  hsa_signal_create = create_signal;
  hsa_signal_destroy = destroy_signal;
  hsa_signal_wait_scacquire = wait_signal;
}

/* ---- the device ---- */

/* Between any two things that it does. */
static void take_time(uint64_t index) {
  for (uint64_t i = index % 5; i; i--)
    sched_yield();
}

/* The packet at `index`, which was published. */
static void execute(uint64_t index) {
  hsa_kernel_dispatch_packet_t *slot = &the.ring[index % PACKETS];
  take_time(index);
  const hsa_kernel_dispatch_packet_t packet = {.kernel_object = slot->kernel_object,
                                               .private_segment_size = slot->private_segment_size,
                                               .kernarg_address = slot->kernarg_address,
                                               .completion_signal = slot->completion_signal};
  block_t *block = packet.kernarg_address;
  uint64_t sum = 0;
  for (unsigned i = 0; block && i < WORDS; i++)
    sum += block->words[i];
  if (!block || packet.kernel_object != sum || packet.private_segment_size != (uint32_t)sum)
    atomic_fetch_add_explicit(&the.wrong_packets, 1, memory_order_relaxed);
  take_time(index / 5);
  if (block)
    block->answer = sum + 1;
  /* What is left in the slot is nobody's: neither a word of it may be taken for the next packet's. */
  memset((char *)slot + 8, 0, sizeof *slot - 8);
  __atomic_store_n(&slot->header, HSA_PACKET_TYPE_INVALID, __ATOMIC_RELAXED);
  __atomic_store_n(&the.queue.read_dispatch_id, index + 1, __ATOMIC_RELEASE);
  the.runs++;
  amd_signal_t *signal = (amd_signal_t *)(uintptr_t)packet.completion_signal.handle;
  if (signal)
    __atomic_fetch_sub(&signal->value, 1, __ATOMIC_RELEASE);
}

static void *be_device(void *nothing) {
  (void)nothing;
  for (uint64_t index = 0; !atomic_load_explicit(&the.stop, memory_order_relaxed);) {
    const uint16_t header = __atomic_load_n(&the.ring[index % PACKETS].header, __ATOMIC_ACQUIRE);
    if ((header & 0xff) == HSA_PACKET_TYPE_INVALID)
      sched_yield();
    else
      execute(index++);
  }
  return NULL;
}

/* ---- the host ---- */

typedef struct launcher {
  atmi_queue_t *queue;
  atmi_signal_pool_t *signals;
  uint64_t number;
} launcher_t;

static bool launch(const launcher_t *launcher, uint64_t round, block_t *block, atmi_signal_t *signal) {
  uint64_t index, sum = 0, first = 0;
  for (unsigned i = 0; i < WORDS; i++)
    sum += block->words[i] = launcher->number * 1000003 + round * 17 + i;
  atmi_signal_begin(signal);
  if (atmi_queue_claim(launcher->queue, &index))
    return false;
  hsa_kernel_dispatch_packet_t *slot =
      (hsa_kernel_dispatch_packet_t *)(void *)launcher->queue->ring + index % PACKETS;
  const atmi_dispatch_t dispatch = {.kernel_object = sum,
                                    .group = {1, 1, 1},
                                    .grid = {1, 1, 1},
                                    .private_bytes = (uint32_t)sum,
                                    .kernarg = block,
                                    .done = signal->hsa};
  const uint32_t header = atmi_packet_header(HSA_PACKET_TYPE_KERNEL_DISPATCH, false, 1);
  atmi_packet_fill_dispatch(&dispatch, slot);
  atmi_queue_note(launcher->queue, index, NULL, signal);
  if (round % 2) {
    atmi_queue_publish(launcher->queue, index, slot, header);
    return true;
  }
  memcpy(&first, slot, sizeof first);
  memcpy(&first, &header, sizeof header);
  atmi_queue_publish_first(launcher->queue, index, slot, first);
  return true;
}

/* Looks in each way that there is, and then uses what it was told of. */
static bool is_over(const atmi_signal_t *signal, uint64_t round) {
  const atmi_stream_t stream = {.count = 1, .first_value = signal->value};
  switch (round % 4) {
  case 0: return atmi_signal_wait(signal, 10) == ATMI_OK;
  case 1:
    while (!atmi_signal_is_complete(signal))
      sched_yield();
    return true;
  case 2:
    while (atmi_signal_query(signal) == ATMI_PENDING)
      sched_yield();
    return true;
  default:
    while (!atmi_stream_has_one_ended(&stream))
      sched_yield();
    return true;
  }
}

static void *launch_and_look(void *argument) {
  const launcher_t *launcher = argument;
  block_t blocks[PEERS] = {{{0}, 0}};
  for (uint64_t round = 0; round < ROUNDS; round++) {
    atmi_signal_t *signals[PEERS];
    for (unsigned i = 0; i < PEERS; i++)
      if (atmi_signal_take(launcher->signals, &signals[i]) ||
          !launch(launcher, round * PEERS + i, &blocks[i], signals[i]))
        atomic_fetch_add(&the.failures, 1);
    for (unsigned i = 0; i < PEERS; i++) {
      uint64_t sum = 0;
      if (!is_over(signals[i], round))
        atomic_fetch_add(&the.failures, 1);
      for (unsigned j = 0; j < WORDS; j++)
        sum += blocks[i].words[j];
      if (blocks[i].answer != sum + 1)
        atomic_fetch_add_explicit(&the.wrong_results, 1, memory_order_relaxed);
      atmi_signal_unref(signals[i]);
    }
  }
  return NULL;
}

/* More packets than the ring has, from several threads. */
static void packets_and_answers_arrive_whole(void **state) {
  (void)state;
  static atmi_queue_t queue;
  static atmi_signal_pool_t signals;
  static const atmi_queue_owner_t owner = {.label = "the device", .lost = &the.lost};
  pthread_t device, threads[THREADS];
  launcher_t launchers[THREADS];
  take_places();
  assert_int_equal(atmi_queue_init(&owner, PACKETS, &queue), ATMI_OK);
  atmi_signal_pool_init(&signals, "the device", &the.lost);
  assert_int_equal(pthread_create(&device, NULL, be_device, NULL), 0);
  for (unsigned i = 0; i < THREADS; i++) {
    launchers[i] = (launcher_t){&queue, &signals, i};
    assert_int_equal(pthread_create(&threads[i], NULL, launch_and_look, &launchers[i]), 0);
  }
  for (unsigned i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  atomic_store(&the.stop, true);
  pthread_join(device, NULL);
  assert_int_equal(the.failures, 0);
  assert_int_equal(the.early_doorbells, 0);
  assert_int_equal(the.wrong_packets, 0);
  assert_int_equal(the.wrong_results, 0);
  assert_int_equal(the.runs, THREADS * ROUNDS * PEERS);
  atmi_signal_pool_fini(&signals);
  atmi_queue_fini(&queue);
}

/* ---- a full ring ---- */

enum { FILLERS = 3, EACH = 10 * PACKETS };

typedef struct filler {
  launcher_t launcher;
  block_t blocks[EACH];
  atmi_signal_t *done[EACH]; /* taken before, as taking orders threads */
} filler_t;

static void *fill_up(void *argument) {
  filler_t *filler = argument;
  for (unsigned i = 0; i < EACH; i++)
    if (!launch(&filler->launcher, i, &filler->blocks[i], filler->done[i]))
      atomic_fetch_add(&the.failures, 1);
  return NULL;
}

/* While the device stands still nothing beyond the ring is published; then everything arrives. Nobody looks
 * at a signal meanwhile: only the read index says that a slot is free, also to threads that have it from
 * another. */
static void a_full_ring_is_waited_for(void **state) {
  (void)state;
  static atmi_queue_t queue;
  static atmi_signal_pool_t signals;
  static const atmi_queue_owner_t owner = {.label = "the device", .lost = &the.lost};
  static filler_t fillers[FILLERS];
  pthread_t device, threads[FILLERS];
  take_places();
  the.stop = false;
  the.runs = 0;
  assert_int_equal(atmi_queue_init(&owner, PACKETS, &queue), ATMI_OK);
  atmi_signal_pool_init(&signals, "the device", &the.lost);
  for (unsigned i = 0; i < FILLERS; i++) {
    fillers[i].launcher = (launcher_t){&queue, &signals, 7 + i};
    for (unsigned j = 0; j < EACH; j++)
      assert_int_equal(atmi_signal_take(&signals, &fillers[i].done[j]), ATMI_OK);
  }
  for (unsigned i = 0; i < FILLERS; i++) {
    assert_int_equal(pthread_create(&threads[i], NULL, fill_up, &fillers[i]), 0);
  }
  /* Each has claimed one more, and waits for its slot. */
  while (__atomic_load_n(&the.queue.write_dispatch_id, __ATOMIC_RELAXED) < PACKETS + FILLERS)
    sched_yield();
  nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
  assert_int_equal(__atomic_load_n(&the.queue.write_dispatch_id, __ATOMIC_RELAXED), PACKETS + FILLERS);
  assert_int_equal(pthread_create(&device, NULL, be_device, NULL), 0);
  for (unsigned i = 0; i < FILLERS; i++)
    pthread_join(threads[i], NULL);
  while (__atomic_load_n(&the.queue.read_dispatch_id, __ATOMIC_ACQUIRE) < FILLERS * EACH)
    sched_yield();
  atomic_store(&the.stop, true);
  pthread_join(device, NULL);
  assert_int_equal(the.runs, FILLERS * EACH);
  assert_int_equal(the.wrong_packets, 0);
  assert_int_equal(the.failures, 0);
  atmi_signal_pool_fini(&signals);
  atmi_queue_fini(&queue);
}

/* ---- the read index at second hand ---- */

typedef struct second {
  launcher_t launcher;
  block_t block;
  atmi_signal_t *done;
  atomic_bool begin;
} second_t;

static void *launch_when_told(void *argument) {
  second_t *second = argument;
  /* Relaxed, so that nothing but the queue orders the threads. */
  while (!atomic_load_explicit(&second->begin, memory_order_relaxed))
    sched_yield();
  if (!launch(&second->launcher, 0, &second->block, second->done))
    atomic_fetch_add(&the.failures, 1);
  return NULL;
}

/* A thread that has never asked for the read index takes a slot that the device has used, because another
 * thread has asked. */
static void who_asked_hands_slots_on(void **state) {
  (void)state;
  static atmi_queue_t queue;
  static atmi_signal_pool_t signals;
  static const atmi_queue_owner_t owner = {.label = "the device", .lost = &the.lost};
  static second_t second;
  static filler_t first;
  pthread_t device, thread;
  take_places();
  the.stop = false;
  the.runs = 0;
  assert_int_equal(atmi_queue_init(&owner, PACKETS, &queue), ATMI_OK);
  atmi_signal_pool_init(&signals, "the device", &the.lost);
  first.launcher = second.launcher = (launcher_t){&queue, &signals, 3};
  for (unsigned i = 0; i <= PACKETS; i++)
    assert_int_equal(atmi_signal_take(&signals, &first.done[i]), ATMI_OK);
  assert_int_equal(atmi_signal_take(&signals, &second.done), ATMI_OK);
  assert_int_equal(pthread_create(&thread, NULL, launch_when_told, &second), 0);
  assert_int_equal(pthread_create(&device, NULL, be_device, NULL), 0);
  for (unsigned i = 0; i < PACKETS; i++)
    assert_true(launch(&first.launcher, i, &first.blocks[i], first.done[i]));
  while (__atomic_load_n(&the.queue.read_dispatch_id, __ATOMIC_RELAXED) < PACKETS)
    sched_yield();
  assert_true(launch(&first.launcher, PACKETS, &first.blocks[PACKETS], first.done[PACKETS]));
  assert_int_equal(atomic_load(&queue.read_seen), PACKETS);
  atomic_store_explicit(&second.begin, true, memory_order_relaxed);
  pthread_join(thread, NULL);
  while (__atomic_load_n(&the.queue.read_dispatch_id, __ATOMIC_ACQUIRE) < PACKETS + 2)
    sched_yield();
  atomic_store(&the.stop, true);
  pthread_join(device, NULL);
  assert_int_equal(the.wrong_packets, 0);
  assert_int_equal(the.failures, 0);
  atmi_signal_pool_fini(&signals);
  atmi_queue_fini(&queue);
}

/* ---- a lost device ---- */

/* Who waits for a packet that is never completed is woken when the device is given up. */
static void *give_up_later(void *signals) {
  nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
  atomic_store(&the.lost, true);
  atmi_signal_pool_abandon(signals);
  return NULL;
}

static void a_lost_device_wakes_who_waits(void **state) {
  (void)state;
  static atmi_signal_pool_t signals;
  atmi_signal_t *signal;
  pthread_t thread;
  take_places();
  atmi_signal_pool_init(&signals, "the device", &the.lost);
  assert_int_equal(atmi_signal_take(&signals, &signal), ATMI_OK);
  atmi_signal_begin(signal);
  atomic_store(&the.awaited, signal);
  assert_int_equal(pthread_create(&thread, NULL, give_up_later, &signals), 0);
  assert_int_equal(atmi_signal_wait(signal, 0), ATMI_LOST);
  pthread_join(thread, NULL);
  atomic_store(&the.awaited, NULL);
  assert_int_equal(the.early_ends, 0);
  assert_int_equal(atmi_signal_query(signal), ATMI_LOST);
  assert_false(atmi_signal_is_complete(signal));
  /* A use that begins afterwards is not waited for either, though nobody abandons it. */
  assert_int_equal(atmi_signal_take(&signals, &signal), ATMI_OK);
  atmi_signal_begin(signal);
  assert_int_equal(atmi_signal_wait(signal, 0), ATMI_LOST);
  atmi_signal_pool_fini(&signals);
  atomic_store(&the.lost, false);
}

/* What counts the devices that may be used knows of a fault that came before. */
static void a_device_lost_before_its_first_use_is_not_sound(void **state) {
  (void)state;
  for (int lost = 0; lost < 2; lost++) {
    static atmi_context_t context;
    static atmi_device_t device;
    context = (atmi_context_t){.state = ATMI_CONTEXT_RUNNING, .device_count = 1};
    device = (atmi_device_t){.machine = &context.machine};
    atmi_signal_pool_init(&device.signals, "the device", &device.lost);
    if (lost)
      atmi_device_abandon(&device);
    assert_false(atmi_context_is_usable(&context, 0));
    assert_false(atmi_context_is_sound(&context, 0));
    atmi_context_count_devices(&context);
    assert_true(atmi_context_is_usable(&context, 0));
    assert_int_equal(atmi_context_is_sound(&context, 0), !lost);
    atmi_signal_pool_fini(&device.signals);
  }
}

/* ---- marks ---- */

enum { OWNERS = 2, LOOKS = 20000 };

typedef struct marked {
  atmi_signal_pool_t signals;
  _Atomic atmi_signal_mark_t marks[OWNERS]; /* of the use that is now, and of those before */
  atomic_uint owners, looks, borrowed, wrong;
} marked_t;

/* Borrows the signal behind each mark, which may be one of long ago. */
static void *follow_marks(void *argument) {
  marked_t *marked = argument;
  for (unsigned i = 0; i < LOOKS; i++) {
    const atmi_signal_mark_t mark = atomic_load_explicit(&marked->marks[i % OWNERS], memory_order_acquire);
    if (i % 3 == 0)
      sched_yield();
    atmi_signal_t *signal = atmi_signal_from_mark(&marked->signals, mark);
    atomic_fetch_add_explicit(&marked->looks, 1, memory_order_relaxed);
    if (!signal)
      continue;
    atomic_fetch_add_explicit(&marked->borrowed, 1, memory_order_relaxed);
    if (i % 3 == 1)
      sched_yield();
    if (atomic_load_explicit(&signal->use, memory_order_relaxed) != (uint32_t)(mark >> 32))
      atomic_fetch_add_explicit(&marked->wrong, 1, memory_order_relaxed);
    atmi_signal_unref(signal);
  }
  return NULL;
}

/* Uses signals as streams do: some times each, until somebody else has a reference, and then another one. */
static void *own_signals(void *argument) {
  marked_t *marked = argument;
  const unsigned owner = atomic_fetch_add(&marked->owners, 1);
  while (atomic_load_explicit(&marked->looks, memory_order_relaxed) < LOOKS) {
    atmi_signal_t *signal;
    if (atmi_signal_take(&marked->signals, &signal))
      return (void *)"no signal";
    for (unsigned uses = 0; uses < 3; uses++) {
      atmi_signal_begin(signal);
      atomic_store_explicit(&marked->marks[owner], atmi_signal_mark(signal), memory_order_release);
      if (uses == 1)
        sched_yield();
      atmi_signal_cancel(signal);
      if (signal->known && !atmi_signal_retire(signal))
        break;
    }
    atmi_signal_unref(signal);
  }
  return NULL;
}

/* A signal serves again only when nobody has a reference to its last use, and what an owner writes into it is
 * handed to the next, whoever was the last to let go of it. */
static void marks_lead_to_one_use(void **state) {
  (void)state;
  static marked_t marked;
  pthread_t follower, owners[OWNERS];
  void *failure;
  take_places();
  atmi_signal_pool_init(&marked.signals, "the device", &the.lost);
  for (unsigned i = 0; i < OWNERS; i++)
    assert_int_equal(pthread_create(&owners[i], NULL, own_signals, &marked), 0);
  assert_int_equal(pthread_create(&follower, NULL, follow_marks, &marked), 0);
  pthread_join(follower, NULL);
  for (unsigned i = 0; i < OWNERS; i++) {
    pthread_join(owners[i], &failure);
    assert_null(failure);
  }
  assert_int_equal(marked.wrong, 0);
  assert_true(marked.borrowed > 0);
  atmi_signal_pool_fini(&marked.signals);
}

/* ---- the last reference ---- */

typedef struct last {
  atmi_signal_pool_t signals;
  _Atomic atmi_signal_mark_t mark;
  atomic_int step;
  bool same; /* the next owner got the signal of the first one */
} last_t;

/* Relaxed, so that nothing but what is tested orders the threads. */
static void step(last_t *last, int number) {
  atomic_store_explicit(&last->step, number, memory_order_relaxed);
}

static void wait_for_step(last_t *last, int number) {
  while (atomic_load_explicit(&last->step, memory_order_relaxed) < number)
    sched_yield();
}

static void *let_go_last(void *argument) {
  last_t *last = argument;
  wait_for_step(last, 1);
  atmi_signal_t *signal =
      atmi_signal_from_mark(&last->signals, atomic_load_explicit(&last->mark, memory_order_acquire));
  step(last, 2);
  wait_for_step(last, 3);
  atmi_signal_unref(signal);
  step(last, 4);
  return NULL;
}

static void *own_next(void *argument) {
  last_t *last = argument;
  atmi_signal_t *signal = NULL;
  wait_for_step(last, 4);
  if (!atmi_signal_take(&last->signals, &signal))
    last->same = signal->link.index + 1 == (uint32_t)atomic_load(&last->mark);
  return NULL;
}

/* An owner lets go of a signal to which somebody else has a reference. The next owner gets it from that one,
 * and writes into it what the first one has read. */
static void the_last_one_hands_a_signal_over(void **state) {
  (void)state;
  static last_t last;
  atmi_signal_t *signal;
  pthread_t other, next;
  take_places();
  atmi_signal_pool_init(&last.signals, "the device", &the.lost);
  assert_int_equal(pthread_create(&other, NULL, let_go_last, &last), 0);
  assert_int_equal(pthread_create(&next, NULL, own_next, &last), 0);
  assert_int_equal(atmi_signal_take(&last.signals, &signal), ATMI_OK);
  atmi_signal_begin(signal);
  atomic_store_explicit(&last.mark, atmi_signal_mark(signal), memory_order_release);
  step(&last, 1);
  wait_for_step(&last, 2);
  assert_true(signal->known);
  assert_false(atmi_signal_retire(signal));
  atmi_signal_unref(signal);
  step(&last, 3);
  pthread_join(other, NULL);
  pthread_join(next, NULL);
  assert_true(last.same);
  atmi_signal_pool_fini(&last.signals);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(packets_and_answers_arrive_whole),
      cmocka_unit_test(a_full_ring_is_waited_for),
      cmocka_unit_test(who_asked_hands_slots_on),
      cmocka_unit_test(a_lost_device_wakes_who_waits),
      cmocka_unit_test(a_device_lost_before_its_first_use_is_not_sound),
      cmocka_unit_test(marks_lead_to_one_use),
      cmocka_unit_test(the_last_one_hands_a_signal_over),
  };
  return cmocka_run_group_tests_name("plugin queue", tests, NULL, NULL);
}
