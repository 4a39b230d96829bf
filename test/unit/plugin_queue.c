/* Packets, argument blocks and completion signals between host threads and a device, which is a thread here
 * that takes its time; functions of this test stand in for ROCr's. So the orders of both sides are in code
 * that ThreadSanitizer sees: what is published too early, freed too late or read too soon is a race for it,
 * and mostly a wrong number without it. */
#include "plugin_test.h"

#include "device/queue.h"

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
  if (round % 3 == 0)
    return atmi_signal_wait(signal, 10) == ATMI_OK;
  if (round % 3 == 1) {
    while (!atmi_signal_is_complete(signal))
      sched_yield();
    return true;
  }
  while (atmi_signal_query(signal) == ATMI_PENDING)
    sched_yield();
  return true;
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
} filler_t;

static void *fill_up(void *argument) {
  filler_t *filler = argument;
  for (unsigned i = 0; i < EACH; i++) {
    atmi_signal_t *signal;
    if (atmi_signal_take(filler->launcher.signals, &signal) ||
        !launch(&filler->launcher, i, &filler->blocks[i], signal))
      atomic_fetch_add(&the.failures, 1);
  }
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

/* ---- marks ---- */

typedef struct marked {
  atmi_signal_pool_t *signals;
  _Atomic atmi_signal_mark_t mark; /* of the use that is now, and of those before */
  atomic_bool stop;
  unsigned wrong;
} marked_t;

/* Borrows the signal behind each mark, which may be one of long ago. */
static void *follow_marks(void *argument) {
  marked_t *marked = argument;
  while (!atomic_load_explicit(&marked->stop, memory_order_relaxed)) {
    const atmi_signal_mark_t mark = atomic_load_explicit(&marked->mark, memory_order_acquire);
    atmi_signal_t *signal = atmi_signal_from_mark(marked->signals, mark);
    if (!signal)
      continue;
    marked->wrong += atomic_load_explicit(&signal->use, memory_order_relaxed) != (uint32_t)(mark >> 32);
    atmi_signal_unref(signal);
  }
  return NULL;
}

/* A signal serves again only when nobody has a reference to its last use, and what its owners write into it
 * is handed from one to the next. */
static void marks_lead_to_one_use(void **state) {
  (void)state;
  enum { USES = 20000 };
  static atmi_signal_pool_t signals;
  static marked_t marked = {.signals = &signals};
  pthread_t follower;
  take_places();
  atmi_signal_pool_init(&signals, "the device", &the.lost);
  assert_int_equal(pthread_create(&follower, NULL, follow_marks, &marked), 0);
  for (unsigned i = 0; i < USES; i++) {
    atmi_signal_t *signal;
    assert_int_equal(atmi_signal_take(&signals, &signal), ATMI_OK);
    for (unsigned uses = 0; uses < 3; uses++) {
      atmi_signal_begin(signal);
      atomic_store_explicit(&marked.mark, atmi_signal_mark(signal), memory_order_release);
      atmi_signal_cancel(signal);
      if (signal->known && !atmi_signal_retire(signal))
        break;
    }
    atmi_signal_unref(signal);
  }
  atomic_store(&marked.stop, true);
  pthread_join(follower, NULL);
  assert_int_equal(marked.wrong, 0);
  atmi_signal_pool_fini(&signals);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(packets_and_answers_arrive_whole),
      cmocka_unit_test(a_full_ring_is_waited_for),
      cmocka_unit_test(a_lost_device_wakes_who_waits),
      cmocka_unit_test(marks_lead_to_one_use),
  };
  return cmocka_run_group_tests_name("plugin queue", tests, NULL, NULL);
}
