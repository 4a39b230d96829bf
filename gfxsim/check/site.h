/* Instructions that access memory, numbered, and what their code says of their purpose: a read-modify-write,
 * a load that waits for others, the load in front of a compare-and-swap. Not here: who executes them
 * (race.c). */
#ifndef GFXSIM_CHECK_SITE_H
#define GFXSIM_CHECK_SITE_H

#include <pthread.h>
#include <stdint.h>

#include "check/order.h"
#include "isa/wave.h"

enum {
  GS_SITE_ATOMIC = 1,   /* read-modify-write */
  GS_SITE_EXCHANGE = 2, /* ... of the kinds that locks and flags are made of */
  GS_SITE_WAITS =
      4, /* a load that is told to look past the cache, or that is repeated until another value comes */
  GS_SITE_COMPARED =
      8, /* a load, and behind it a compare-and-swap, which looks whether the value is still there */
  GS_SITE_RETURNS = 32,     /* a read-modify-write that returns what was there */
  GS_SITE_COPY = 16,        /* no instruction: a copy engine */
  GS_SITE_PAST = 64,        /* a load that is told to look past the compute unit's cache */
  GS_SITE_PAST_ARRAY = 128, /* ... past that of its shader array */
  GS_SITE_HIGH = 256,       /* a store of the upper half of its register */
  GS_SITE_THROUGH = 512,    /* a store that does not stay in the second cache of its XCC */
  GS_SITE_SCALAR = 1024,    /* by the scalar unit: of no lane in particular */
};

typedef struct gs_site {
  uint64_t pc;    /* of the instruction */
  uint64_t code;  /* what the code around it is: other code may come to its place */
  uint8_t bytes;  /* which of a dword it accesses, a bit each */
  uint16_t flags; /* GS_SITE_* */
  uint16_t data;  /* of a store: the first vector register that it stores; GS_SITE_NO_DATA: not known */
} gs_site_t;

enum { GS_SITE_NO_DATA = 0xffff };
enum { GS_SITE_UNKNOWN, GS_SITE_OF_COPIES, GS_SITE_FIRST };

typedef struct gs_sites {
  pthread_mutex_t lock;
  uint32_t count;
  gs_site_t *site;   /* GS_SITES; never changes once it has its number */
  uint16_t *by_hash; /* 4 * GS_SITES; 0: none */
  uint64_t id;       /* of all that there are and were in this process: addresses come again */
} gs_sites_t;

/* Returns 0, or -1 when out of memory. */
int gs_sites_init(gs_sites_t *sites) __attribute__((warn_unused_result));
void gs_sites_fini(gs_sites_t *sites);

/* The number of the instruction that the wave executes, accessing these bytes of a dword; GS_SITE_UNKNOWN
 * when there are too many. Thread-safe, on the thread that runs the wave, which remembers what it asked
 * for lately as long as the device's code stays as it is. */
uint32_t gs_site_of(gs_sites_t *sites, const gs_wave_t *w, unsigned bytes);

#endif
