/* Strictness: in which ways a simulated GPU shall be as unlucky as a card may be, read from a list of words;
 * and what chance decides, repeatably. Not here: being unlucky (exec/, packet/, machine/). */
#ifndef GFXSIM_BASE_STRICT_H
#define GFXSIM_BASE_STRICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What can be asked for. Each has kinds, a bit each. */
typedef enum gs_strict_mode {
  GS_STRICT_POISON,
  GS_STRICT_ORDER,
  GS_STRICT_SCHEDULE,
  GS_STRICT_LINKS,
  GS_STRICT_DRIVER,
  GS_STRICT_WAIT,
  GS_STRICT_MODES
} gs_strict_mode_t;

/* What is in memory and registers that nobody wrote. Of these a run has one. */
enum {
  GS_POISON_FREED = 1 << 0,     /* 0xd0bed0be, as the driver fills memory that a process gave back */
  GS_POISON_ONES = 1 << 1,      /* all bits set */
  GS_POISON_NAN = 1 << 2,       /* signalling NaN: even words as float, pairs of words as double */
  GS_POISON_RANDOM = 1 << 3,    /* other bits in each of 1021 words, and so on */
  GS_POISON_LEFTOVERS = 1 << 4, /* of the wave and the group before */
};

/* What nothing but signals, barrier bits and barrier packets orders. */
enum {
  GS_ORDER_OVERLAP = 1 << 0, /* kernels of one queue that no barrier bit separates */
  GS_ORDER_LATE = 1 << 1,    /* packets and commands are looked at late, signals change late */
  GS_ORDER_COPIES = 1 << 2,  /* blocks of a copy arrive in any order, and garbage before them */
  GS_ORDER_INDEX = 1 << 3,   /* the read index moves before or long after the signal */
  GS_ORDER_EVENTS = 1 << 4,  /* the event is announced long after the signal changed */
};

/* Which wave and which workgroup runs when. */
enum {
  GS_SCHEDULE_WAVES = 1 << 0,   /* other waves take over at any instruction, in any order */
  GS_SCHEDULE_GROUPS = 1 << 1,  /* workgroups that fit at once begin and go on in any order */
  GS_SCHEDULE_STARVE = 1 << 2,  /* a wave gets no turn for long */
  GS_SCHEDULE_PREEMPT = 1 << 3, /* all waves of a group stop for a while */
};

/* What the machine is like. */
enum {
  GS_LINKS_ATOMICS = 1 << 0, /* none: as GFXSIM_PCIE_ATOMICS=0 */
  GS_LINKS_NUMA = 1 << 1,    /* as GFXSIM_NUMA=1 */
  GS_LINKS_HIVE = 1 << 2,    /* XGMI between GPUs of one kind */
  GS_LINKS_MEMORY = 1 << 3,  /* the host can access the memory of every other GPU */
  GS_LINKS_QUEUES = 1 << 4,  /* the hardware serves two queues at a time */
};

/* What the driver does meanwhile. */
enum {
  GS_DRIVER_EVICT = 1 << 0,  /* all queues stop for a millisecond or two, now and then */
  GS_DRIVER_FAULTS = 1 << 1, /* memory faults are told late, by page, and only the first */
};

/* What is in a register that is not there yet. Of the first two a run has one. */
enum {
  GS_LATE_OLD = 1 << 0,    /* that a load is outstanding into: what was there before */
  GS_LATE_POISON = 1 << 1, /* likewise: 0xd0bed0be */
  GS_LATE_STATES = 1 << 2, /* read with too few wait states: 0xd0bed0be */
  GS_LATE_LOADS = GS_LATE_OLD | GS_LATE_POISON,
};

/* For each mode its kinds that are wanted; none: the mode is off. Plain data. */
typedef struct gs_strict {
  uint32_t kinds[GS_STRICT_MODES];
  uint32_t whole; /* bit i: mode i was named without a kind */
} gs_strict_t;

enum { GS_STRICT_REASON_BYTES = 160 };

/* Reads "poison,order:late", "all" or "". A mode alone means all of its kinds. False, with the reason in
 * `reason`, when a word is none. */
bool gs_strict_parse(const char *text, gs_strict_t *strict, char *reason, size_t reason_bytes);

/* Decides by the seed where there is a choice: one kind of poison among those wanted, one of
 * what registers hold that are not there yet, and, with `links` alone, which of its kinds the machine has. */
void gs_strict_choose(gs_strict_t *strict, uint32_t seed);

/* A sequence of numbers that look random. Plain data, of one thread. */
typedef struct gs_random {
  uint64_t state;
} gs_random_t;

/* The sequence of a seed for one of many things, which have numbers. */
gs_random_t gs_random_of(uint32_t seed, uint64_t thing, uint64_t part);

static inline uint64_t gs_random_next(gs_random_t *random) {
  random->state += UINT64_C(0x9e3779b97f4a7c15);
  uint64_t bits = random->state;
  bits = (bits ^ bits >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  bits = (bits ^ bits >> 27) * UINT64_C(0x94d049bb133111eb);
  return bits ^ bits >> 31;
}
/* A number below `limit`, which is not 0. */
static inline uint32_t gs_random_below(gs_random_t *random, uint32_t limit) {
  return (uint32_t)((gs_random_next(random) >> 32) * limit >> 32);
}
/* True once in `times`. */
static inline bool gs_random_once_in(gs_random_t *random, uint32_t times) {
  return gs_random_below(random, times) == 0;
}

/* How late a thing is, in ns: often not at all, mostly some microseconds, seldom a millisecond. */
uint64_t gs_random_delay_ns(gs_random_t *random);

/* At which time, in ns, the driver lets queues go on that it has stopped for a while at the time `now`; 0
 * when it has not. The same for all queues of a seed: once in 32 ms on average, for 1 to 2 ms. */
uint64_t gs_eviction_end(uint32_t seed, uint64_t now);

/* Fills whole words with a kind of poison, leftovers with what the driver leaves; `random` is for those that
 * need it. `to` is aligned to 8 bytes; less than 4 bytes at the end stay as they are. */
void gs_poison_fill(uint32_t kind, gs_random_t *random, void *to, size_t bytes);
/* Word number `i` of such memory. */
uint32_t gs_poison_word(uint32_t kind, gs_random_t *random, size_t i);

#endif
