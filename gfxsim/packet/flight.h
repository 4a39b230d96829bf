/* Kernels of one queue that run side by side, as a card may run them where no barrier bit orders them: each
 * in a thread of its own, some of which begin late. Only in an unlucky machine. Not here: which packets may
 * (aql.c). */
#ifndef GFXSIM_PACKET_FLIGHT_H
#define GFXSIM_PACKET_FLIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include "packet/engine.h"

/* The kernels of a queue that were started and whose packets are still in the ring. All functions are for the
 * queue's thread. */
typedef struct gs_flights gs_flights_t;

/* How the kernel of a packet did. */
typedef struct gs_landing {
  bool over;            /* its slot may be given back: the signal changed, or will when it has been */
  gs_outcome_t outcome; /* of the kernel */
  gs_fault_t fault;     /* of the kernel's, or of the signal's address */
  bool signal_failed;   /* the signal cannot be reached */
} gs_landing_t;

/* NULL when out of memory. What `config` points to must outlive it. */
gs_flights_t *gs_flights_create(const gs_engine_config_t *config);
/* Waits for all of them, which end soon when *config->stop is set. Accepts NULL. */
void gs_flights_destroy(gs_flights_t *flights);

/* How many packets are under way, and how many of their kernels use scratch memory. */
uint32_t gs_flights_count(const gs_flights_t *flights);
uint32_t gs_flights_with_scratch(const gs_flights_t *flights);

/* Starts the kernel of packet `index`, which completes `signal` (0 = none). False, and nothing done, if as
 * many run as can, or the host has no thread for it. */
bool gs_flights_start(gs_flights_t *flights, uint64_t index, const gs_dispatch_t *dispatch, uint64_t signal);

/* How packet `index`, which was started, is doing. */
gs_landing_t gs_flights_look(gs_flights_t *flights, uint64_t index);
/* Forgets a packet that is over: the read index has moved behind it. */
void gs_flights_forget(gs_flights_t *flights, uint64_t index);

#endif
