/* A few threads, made when they are first needed. A flight holds back until the next packet's kernel has
 * ended, if chance wants that, but never for long: that one may be waiting for this one, which came before
 * it. */
#include "packet/flight.h"

#include <hsa/hsa.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/condition.h"
#include "base/thread.h"
#include "packet/late.h"
#include "packet/signal.h"

enum { FLIGHTS = 4, HOLD_NS = 3 * 1000 * 1000, LONG_HOLD_NS = 100 * 1000 * 1000 };

typedef enum flight_state {
  FLIGHT_FREE,
  FLIGHT_BEGUN,
  FLIGHT_LANDED,  /* the kernel has ended, the signal waits for the read index */
  FLIGHT_LEFT,    /* landed, and the read index has moved */
  FLIGHT_OVER,    /* the signal has changed, or something failed */
  FLIGHT_CLEARED, /* left, and over */
} flight_state_t;

typedef struct flight {
  gs_flights_t *all;
  flight_state_t state; /* guarded by all->lock, as is what follows until it has begun */
  bool has_thread;
  bool with_scratch;
  bool index_first; /* the read index moves before the signal changes */
  bool holds_back;
  uint64_t index, signal, start, end; /* the last two: when the kernel ran, in ticks */
  gs_dispatch_t dispatch;
  gs_landing_t landing;
  gs_late_t late;
  gs_bus_t bus; /* the thread's */
  pthread_t thread;
} flight_t;

struct gs_flights {
  gs_engine_config_t config;
  gs_late_t late; /* of the queue's thread */
  pthread_mutex_t lock;
  pthread_cond_t changed;
  bool runs;           /* a kernel, in a deterministic machine: one at a time */
  uint64_t last_ended; /* index of a packet whose kernel has ended, + 1: the highest */
  bool quit;
  flight_t flight[FLIGHTS];
};

static bool stopped(const gs_flights_t *flights) {
  return atomic_load_explicit(flights->config.stop, memory_order_relaxed);
}

/* Lets the next packets go first, for a while. Lock held. */
static void hold_back(gs_flights_t *flights, const flight_t *flight) {
  const struct timespec deadline =
      gs_condition_deadline(flights->config.deterministic ? LONG_HOLD_NS / 10 : HOLD_NS);
  while (flights->last_ended <= flight->index + 1 && !flights->quit && !stopped(flights))
    if (pthread_cond_timedwait(&flights->changed, &flights->lock, &deadline) == ETIMEDOUT)
      return;
}

/* Waits for the turn of this flight, but not for ever: the kernel that runs may be waiting for this one. Lock
 * held. */
static bool take_turn(gs_flights_t *flights) {
  const struct timespec deadline = gs_condition_deadline(LONG_HOLD_NS);
  while (flights->runs && !flights->quit)
    if (pthread_cond_timedwait(&flights->changed, &flights->lock, &deadline) == ETIMEDOUT)
      break;
  const bool taken = !flights->runs;
  flights->runs = true;
  return taken;
}

/* Lock held on entry and exit. */
static void run_kernel(gs_flights_t *flights, flight_t *flight) {
  const bool has_turn = flights->config.deterministic && take_turn(flights);
  pthread_mutex_unlock(&flights->lock);
  gs_late_perhaps(&flight->late, GS_ORDER_LATE); /* its arguments are read when it runs */
  flight->start = gs_clock_ticks();
  flight->landing.outcome = gs_device_run(flights->config.device, &flight->dispatch, &flight->landing.fault);
  flight->end = gs_clock_ticks();
  pthread_mutex_lock(&flights->lock);
  if (!has_turn)
    return;
  flights->runs = false;
  pthread_cond_broadcast(&flights->changed);
}

static void complete(gs_flights_t *flights, flight_t *flight) {
  uint32_t event_id = 0;
  gs_bus_enter(&flight->bus);
  flight->landing.signal_failed =
      !gs_signal_complete(&flight->bus, flight->signal, flight->start, flight->end, &event_id);
  if (flight->landing.signal_failed)
    flight->landing.fault = flight->bus.fault;
  gs_bus_leave(&flight->bus);
  if (event_id)
    flights->config.ops->raise_event(flights->config.ops->context, event_id);
}

/* From its begin to its end. Lock held on entry and exit. */
static void fly(gs_flights_t *flights, flight_t *flight) {
  if (flight->holds_back)
    hold_back(flights, flight);
  run_kernel(flights, flight);
  const bool done = flight->landing.outcome == GS_DONE;
  if (done && flight->index_first) {
    flight->state = FLIGHT_LANDED;
    while (flight->state == FLIGHT_LANDED && !flights->quit)
      pthread_cond_wait(&flights->changed, &flights->lock);
  }
  /* The program may have destroyed the signals of what never left the queue that it destroys. */
  const bool abandoned = flight->state == FLIGHT_LANDED;
  pthread_mutex_unlock(&flights->lock);
  if (done && !abandoned)
    complete(flights, flight);
  pthread_mutex_lock(&flights->lock);
  flight->state = flight->state == FLIGHT_LEFT ? FLIGHT_CLEARED : FLIGHT_OVER;
  if (flights->last_ended < flight->index + 1)
    flights->last_ended = flight->index + 1;
  pthread_cond_broadcast(&flights->changed);
}

static void *flight_main(void *argument) {
  flight_t *flight = argument;
  gs_flights_t *flights = flight->all;
  pthread_mutex_lock(&flights->lock);
  while (!flights->quit) {
    if (flight->state == FLIGHT_BEGUN)
      fly(flights, flight);
    else
      pthread_cond_wait(&flights->changed, &flights->lock);
  }
  pthread_mutex_unlock(&flights->lock);
  return NULL;
}

gs_flights_t *gs_flights_create(const gs_engine_config_t *config) {
  gs_flights_t *flights = calloc(1, sizeof *flights);
  if (!flights)
    return NULL;
  flights->config = *config;
  flights->late = (gs_late_t){config->order, gs_random_of(config->seed, config->ordinal, config->queue)};
  if (gs_condition_init(&flights->changed)) {
    free(flights);
    return NULL;
  }
  pthread_mutex_init(&flights->lock, NULL);
  for (unsigned i = 0; i < FLIGHTS; i++)
    flights->flight[i].all = flights;
  return flights;
}

void gs_flights_destroy(gs_flights_t *flights) {
  if (!flights)
    return;
  pthread_mutex_lock(&flights->lock);
  flights->quit = true;
  pthread_cond_broadcast(&flights->changed);
  pthread_mutex_unlock(&flights->lock);
  for (unsigned i = 0; i < FLIGHTS; i++) {
    if (!flights->flight[i].has_thread)
      continue;
    pthread_join(flights->flight[i].thread, NULL);
    gs_bus_fini(&flights->flight[i].bus);
    gs_device_unreserve(flights->config.device);
  }
  pthread_cond_destroy(&flights->changed);
  pthread_mutex_destroy(&flights->lock);
  free(flights);
}

static bool give_thread(gs_flights_t *flights, flight_t *flight) {
  if (flight->has_thread)
    return true;
  if (gs_device_reserve(flights->config.device))
    return false;
  gs_bus_init(&flight->bus, gs_device_vm(flights->config.device));
  flight->bus.no_atomics = flights->config.no_atomics;
  flight->has_thread = gs_thread_start(&flight->thread, "gfxsim-flight", flight_main, flight) == 0;
  if (flight->has_thread)
    return true;
  gs_bus_fini(&flight->bus);
  gs_device_unreserve(flights->config.device);
  return false;
}

static bool is_free(const flight_t *flight) {
  return flight->state == FLIGHT_FREE || flight->state == FLIGHT_CLEARED;
}

/* What chance decides about a packet, whichever thread gets it. */
static void choose(gs_flights_t *flights, flight_t *flight) {
  gs_late_t *late = &flight->late;
  *late = (gs_late_t){flights->config.order,
                      gs_random_of(flights->config.seed, flights->late.random.state, flight->index)};
  flight->holds_back = gs_late_chance(late, GS_ORDER_OVERLAP, 3);
  flight->index_first = gs_late_chance(late, GS_ORDER_INDEX, 2);
  flight->bus.late = *late;
}

bool gs_flights_start(gs_flights_t *flights, uint64_t index, const gs_dispatch_t *dispatch, uint64_t signal) {
  bool started = false;
  pthread_mutex_lock(&flights->lock);
  for (unsigned i = 0; i < FLIGHTS && !started; i++) {
    flight_t *flight = &flights->flight[i];
    if (!is_free(flight) || !give_thread(flights, flight))
      continue;
    flight->index = index;
    flight->signal = signal;
    flight->dispatch = *dispatch;
    flight->with_scratch =
        ((const hsa_kernel_dispatch_packet_t *)(uintptr_t)dispatch->packet)->private_segment_size != 0;
    flight->landing = (gs_landing_t){0};
    choose(flights, flight);
    flight->state = FLIGHT_BEGUN;
    started = true;
  }
  pthread_cond_broadcast(&flights->changed);
  pthread_mutex_unlock(&flights->lock);
  return started;
}

static uint32_t count(const gs_flights_t *flights, bool with_scratch_only) {
  gs_flights_t *all = (gs_flights_t *)(uintptr_t)flights;
  uint32_t number = 0;
  pthread_mutex_lock(&all->lock);
  for (unsigned i = 0; i < FLIGHTS; i++)
    number += !is_free(&flights->flight[i]) && (flights->flight[i].with_scratch || !with_scratch_only);
  pthread_mutex_unlock(&all->lock);
  return number;
}

uint32_t gs_flights_count(const gs_flights_t *flights) {
  return count(flights, false);
}

uint32_t gs_flights_with_scratch(const gs_flights_t *flights) {
  return count(flights, true);
}

/* The flight of a packet that is in the ring. Lock held. */
static flight_t *find(gs_flights_t *flights, uint64_t index) {
  for (unsigned i = 0; i < FLIGHTS; i++) {
    flight_t *flight = &flights->flight[i];
    if (flight->index == index && !is_free(flight) && flight->state != FLIGHT_LEFT)
      return flight;
  }
  return NULL;
}

gs_landing_t gs_flights_look(gs_flights_t *flights, uint64_t index) {
  gs_landing_t landing = {0};
  pthread_mutex_lock(&flights->lock);
  const flight_t *flight = find(flights, index);
  if (flight && (flight->state == FLIGHT_LANDED || flight->state == FLIGHT_OVER)) {
    landing = flight->landing;
    landing.over = true;
  }
  pthread_mutex_unlock(&flights->lock);
  return landing;
}

void gs_flights_forget(gs_flights_t *flights, uint64_t index) {
  pthread_mutex_lock(&flights->lock);
  flight_t *flight = find(flights, index);
  if (flight)
    flight->state = flight->state == FLIGHT_OVER ? FLIGHT_FREE : FLIGHT_LEFT;
  pthread_cond_broadcast(&flights->changed);
  pthread_mutex_unlock(&flights->lock);
}
