/* The thread of a queue. It spins briefly, sleeps in short steps while the last packet is recent, and then
 * parks with the poller. How long it does each depends on how soon packets came lately. */
#include "packet/queue.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/thread.h"
#include "packet/aql.h"
#include "packet/pm4_engine.h"
#include "packet/sdma.h"

enum {
  SPINS = 200,          /* looks before the first sleep: a few microseconds */
  LOOKS_PER_YIELD = 64, /* some microseconds: a yield may take as long as a look at a hundred places */
  SLOW_YIELD_NS = 50 * 1000,
  MODEST_WAITS = 100,
  LONGEST_SPIN_NS = 300 * 1000,
  SHORTEST_SLEEP_NS = 20 * 1000,
  LONGEST_IDLE_SLEEP_NS = 100 * 1000,
  LONGEST_WAIT_SLEEP_NS = 5 * 1000 * 1000,
  PARK_AFTER_NS = 2 * 1000 * 1000, /* idle time after which the thread parks */
  LONGEST_PARK_AFTER_NS = 20 * 1000 * 1000,
  TIMER_SLACK_NS = 1000, /* the default of 50 us is longer than our sleeps */
};

struct gs_queue {
  gs_queue_config_t config;
  const gs_engine_ops_t *engine_ops;
  void *engine;
  gs_parked_t parked;
  gs_synchronous_member_t member;
  pthread_t thread;
  atomic_bool stop;
  atomic_bool paused;
  bool reserved; /* gs_device_reserve */
  gs_cu_limit_t cus;
};

/* How long the queue has been waiting for something. */
typedef struct patience {
  unsigned looks;
  uint64_t since;    /* ns, valid once the spinning is over */
  uint64_t expected; /* ns: twice as long as it took lately until there was a packet again */
  unsigned modesty;  /* so many waits are made without spinning for that */
} patience_t;

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static void sleep_ns(uint64_t ns) {
  const struct timespec pause = {.tv_nsec = (long)ns};
  nanosleep(&pause, NULL);
}

static uint64_t smaller(uint64_t a, uint64_t b) {
  return a < b ? a : b;
}

static uint64_t larger(uint64_t a, uint64_t b) {
  return a > b ? a : b;
}

static uint64_t clamp(uint64_t value, uint64_t low, uint64_t high) {
  return value < low ? low : value > high ? high : value;
}

static void relax(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/* Spins for the first looks. Returns false, with the time waited so far, when it is time to sleep instead. */
static bool spin(patience_t *patience, uint64_t *waited) {
  if (patience->looks++ < SPINS) {
    relax();
    return true;
  }
  const uint64_t now = now_ns();
  if (!patience->since)
    patience->since = now;
  *waited = now - patience->since;
  return false;
}

/* Waits a little for memory to change, perhaps by a queue that is parked. The sleep grows with the time
 * waited: it adds a sixteenth at most. */
static void wait_for_memory(gs_queue_t *queue, patience_t *patience) {
  uint64_t waited = 0;
  if (spin(patience, &waited))
    return;
  gs_poller_help(queue->config.poller);
  sleep_ns(clamp(waited / 16, SHORTEST_SLEEP_NS, LONGEST_WAIT_SLEEP_NS));
}

/* Lets others have the processor. If they took it for long, they need it more than the spinning does; and
 * Linux has a thread that slept run sooner than one that yielded. */
static void offer_processor(patience_t *patience, uint64_t now) {
  sched_yield();
  if (now_ns() - now > SLOW_YIELD_NS)
    patience->modesty = MODEST_WAITS;
}

/* A program that comes back soon, between two of its copies perhaps, finds the thread looking; and one that
 * takes longer loses a sixty-fourth of that time at most. */
static void wait_for_work(gs_queue_t *queue, patience_t *patience) {
  uint64_t waited = 0;
  if (spin(patience, &waited))
    return;
  const uint64_t expected = patience->expected;
  const bool spins = waited < smaller(expected, LONGEST_SPIN_NS) && !patience->modesty;
  if (spins && patience->looks % LOOKS_PER_YIELD) {
    relax();
    return;
  }
  gs_poller_help(queue->config.poller);
  if (spins)
    offer_processor(patience, patience->since + waited);
  else if (waited < clamp(expected, PARK_AFTER_NS, LONGEST_PARK_AFTER_NS))
    sleep_ns(clamp(waited / (waited < expected ? 64 : 4), SHORTEST_SLEEP_NS, LONGEST_IDLE_SLEEP_NS));
  else
    gs_poller_park(queue->config.poller, &queue->parked);
}

/* The wait is over. */
static void learn(patience_t *patience) {
  const uint64_t waited = patience->since ? now_ns() - patience->since : 0;
  const uint64_t expected = waited < LONGEST_PARK_AFTER_NS ? 2 * waited : 0;
  /* One packet that came sooner says little about the next. */
  *patience = (patience_t){.expected = larger(expected, patience->expected / 2),
                           .modesty = patience->modesty ? patience->modesty - 1 : 0};
}

static bool queue_pending(const void *owner) {
  const gs_queue_t *queue = owner;
  return !atomic_load_explicit(&queue->paused, memory_order_relaxed) &&
         queue->engine_ops->pending(queue->engine);
}

/* A step of the engine, when there is nothing that keeps it. */
static gs_step_t step(gs_queue_t *queue) {
  gs_gate_t *gate = queue->config.gate;
  if (gs_gate_is_open(gate) || !queue_pending(queue))
    return queue->engine_ops->step(queue->engine);
  gs_gate_enter(gate, &queue->stop);
  const gs_step_t made = queue->engine_ops->step(queue->engine);
  gs_gate_leave(gate);
  return made;
}

/* Until the queue stops. */
static void work(gs_queue_t *queue) {
  patience_t patience = {0};
  bool was_busy = false;
  while (!atomic_load_explicit(&queue->stop, memory_order_acquire)) {
    if (atomic_load_explicit(&queue->paused, memory_order_acquire)) {
      gs_poller_park(queue->config.poller, &queue->parked);
      continue;
    }
    const gs_step_t made = step(queue);
    if (made == GS_STEP_HALT)
      break;
    if (made == GS_STEP_DONE) {
      if (patience.looks)
        learn(&patience);
      was_busy = true;
      continue;
    }
    if (was_busy) {
      gs_poller_note_activity(queue->config.poller);
      gs_poller_help(queue->config.poller);
    }
    was_busy = false;
    if (made == GS_STEP_WAIT)
      wait_for_memory(queue, &patience);
    else
      wait_for_work(queue, &patience);
  }
}

static void *queue_main(void *argument) {
  gs_queue_t *queue = argument;
  prctl(PR_SET_TIMERSLACK, TIMER_SLACK_NS, 0, 0, 0);
  gs_poller_enter(queue->config.poller);
  work(queue);
  gs_poller_leave(queue->config.poller);
  return NULL;
}

/* One turn of a queue without a thread. */
static bool queue_work(void *owner, bool *waits) {
  gs_queue_t *queue = owner;
  bool any = false;
  gs_step_t made = GS_STEP_IDLE;
  while (!atomic_load_explicit(&queue->stop, memory_order_acquire) &&
         !atomic_load_explicit(&queue->paused, memory_order_acquire)) {
    made = step(queue);
    if (made != GS_STEP_DONE)
      break;
    any = true;
  }
  *waits = made == GS_STEP_WAIT;
  return any;
}

/* Lets somebody look at the queue after its state changed. */
static void queue_wake(gs_queue_t *queue) {
  if (queue->config.synchronous)
    gs_synchronous_run(queue->config.synchronous);
  else
    gs_poller_wake(queue->config.poller, &queue->parked);
}

static gs_queue_t *queue_allocate(const gs_queue_config_t *config) {
  gs_queue_t *queue = calloc(1, sizeof *queue);
  if (!queue)
    return NULL;
  queue->config = *config;
  if (pthread_mutex_init(&queue->cus.lock, NULL))
    goto no_lock;
  if (gs_parked_init(&queue->parked, queue_pending, queue))
    goto no_parking;
  return queue;
no_parking:
  pthread_mutex_destroy(&queue->cus.lock);
no_lock:
  free(queue);
  return NULL;
}

static void queue_free(gs_queue_t *queue) {
  if (queue->reserved)
    gs_device_unreserve(queue->config.device);
  gs_parked_fini(&queue->parked);
  pthread_mutex_destroy(&queue->cus.lock);
  free(queue);
}

static gs_engine_config_t engine_config(gs_queue_t *queue) {
  return (gs_engine_config_t){
      .device = queue->config.device,
      .ordinal = queue->config.ordinal,
      .queue = queue->config.id,
      .execute = queue->config.execute,
      .kernel_us = queue->config.kernel_us,
      .copy_us = queue->config.copy_us,
      .no_atomics = queue->config.no_atomics,
      /* Without threads of the queues, a thread of the program would wait for a kernel that cannot begin. */
      .order = queue->config.order & ~(queue->config.synchronous ? (uint32_t)GS_ORDER_OVERLAP : 0),
      .seed = queue->config.seed,
      .deterministic = queue->config.deterministic,
      .told_not_executed = queue->config.told_not_executed,
      .ops = queue->config.ops,
      .costs = queue->config.costs,
      .stop = &queue->stop,
      .exceptions = queue->config.exceptions,
      .cus = &queue->cus,
  };
}

/* Starts a queue whose engine was made, or frees it. */
static gs_queue_t *queue_start(gs_queue_t *queue, void *engine, const gs_engine_ops_t *ops) {
  if (!engine)
    goto no_engine;
  queue->engine = engine;
  queue->engine_ops = ops;
  if (queue->config.synchronous) {
    queue->member = (gs_synchronous_member_t){.work = queue_work, .owner = queue};
    gs_synchronous_join(queue->config.synchronous, &queue->member);
    return queue;
  }
  if (gs_thread_start(&queue->thread, "gfxsim-queue", queue_main, queue))
    goto no_thread;
  gs_poller_note_activity(queue->config.poller);
  return queue;
no_thread:
  ops->destroy(engine);
no_engine:
  queue_free(queue);
  return NULL;
}

/* A queue whose thread can run kernels, or NULL. */
static gs_queue_t *queue_allocate_for_kernels(const gs_queue_config_t *config) {
  gs_queue_t *queue = queue_allocate(config);
  if (!queue)
    return NULL;
  queue->reserved = gs_device_reserve(config->device) == 0;
  if (queue->reserved)
    return queue;
  queue_free(queue);
  return NULL;
}

gs_queue_t *gs_queue_create_aql(const gs_queue_config_t *config, amd_queue_t *amd_queue) {
  gs_queue_t *queue = queue_allocate_for_kernels(config);
  if (!queue)
    return NULL;
  const gs_engine_config_t engine = engine_config(queue);
  const uint64_t packets = config->ring_bytes / sizeof(hsa_kernel_dispatch_packet_t);
  return queue_start(queue, gs_aql_create(&engine, amd_queue, config->ring, packets), &gs_aql_ops);
}

gs_queue_t *gs_queue_create_pm4(const gs_queue_config_t *config, uint64_t *read_index,
                                uint64_t *write_index) {
  gs_queue_t *queue = queue_allocate_for_kernels(config);
  if (!queue)
    return NULL;
  const gs_engine_config_t engine = engine_config(queue);
  return queue_start(queue, gs_pm4_create(&engine, config->ring, config->ring_bytes, read_index, write_index),
                     &gs_pm4_ops);
}

gs_queue_t *gs_queue_create_sdma(const gs_queue_config_t *config, uint64_t *read_index,
                                 uint64_t *write_index) {
  gs_queue_t *queue = queue_allocate(config);
  if (!queue)
    return NULL;
  const gs_engine_config_t engine = engine_config(queue);
  return queue_start(queue,
                     gs_sdma_create(&engine, config->ring, config->ring_bytes, read_index, write_index),
                     &gs_sdma_ops);
}

void gs_queue_set_running(gs_queue_t *queue, bool running) {
  atomic_store_explicit(&queue->paused, !running, memory_order_release);
  if (running) /* a pause may be asked for in the middle of a packet, and changes nothing for who sleeps */
    queue_wake(queue);
}

bool gs_queue_set_cu_mask(gs_queue_t *queue, const gs_cu_mask_t *mask) {
  if (!gs_device_masked_cus(queue->config.device, mask))
    return false;
  pthread_mutex_lock(&queue->cus.lock);
  queue->cus.mask = *mask;
  pthread_mutex_unlock(&queue->cus.lock);
  return true;
}

void gs_queue_destroy(gs_queue_t *queue) {
  if (!queue)
    return;
  atomic_store_explicit(&queue->stop, true, memory_order_release);
  if (queue->config.synchronous) {
    gs_synchronous_leave(queue->config.synchronous, &queue->member);
  } else {
    queue_wake(queue);
    pthread_join(queue->thread, NULL);
  }
  queue->engine_ops->destroy(queue->engine);
  queue_free(queue);
}
