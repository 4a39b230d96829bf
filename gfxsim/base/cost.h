/* What a run would cost on a card: operations that are counted here as they happen, and a table of what each
 * takes there. The counts are facts of the run; the times are estimates, of which cost.c says where they come
 * from. Not here: who counts what (packet/, machine/, isa/toll.h), and what kernels compute. */
#ifndef GFXSIM_BASE_COST_H
#define GFXSIM_BASE_COST_H

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

/* What joins a card to its host. The first is what a part has of which nothing else is said. */
typedef enum gs_link { GS_LINK_PCIE4, GS_LINK_PCIE3, GS_LINK_COUNT } gs_link_t;

/* Operations. Those of a GPU first, then those of the process. */
typedef enum gs_cost {
  GS_COST_DISPATCH,    /* kernels that ran, ROCr's own included */
  GS_COST_BARRIER_BIT, /* packets that wait for all before them */
  GS_COST_RELEASE,     /* kernels that write caches back to system scope */
  GS_COST_BARRIER,     /* barrier packets */
  GS_COST_VENDOR,      /* PM4 packets */
  GS_COST_SCRATCH,     /* private memory that a queue asked the host for */
  GS_COST_SIGNAL,      /* completion signals counted down */
  GS_COST_TRIP,        /* waits of waves for the host's memory, those that nothing of the same kernel hides */
  GS_COST_LINE,        /* 64 bytes that kernels read or write there */
  GS_COST_DMA,         /* copies and fills that an engine was given; however many commands they take */
  GS_COST_DMA_COMMAND, /* those commands, each of at most 4 MiB on older parts */
  GS_COST_TO_DEVICE,   /* bytes that engines copy */
  GS_COST_FROM_DEVICE,
  GS_COST_WITHIN,
  GS_COST_INTERRUPT,                 /* sent by the GPU */
  GS_COST_OF_PROCESS,                /* what follows is the process's */
  GS_COST_WAIT = GS_COST_OF_PROCESS, /* calls that ask the driver for an event */
  GS_COST_SLEEP,                     /* those of them in which the thread had to be woken */
  GS_COST_ALLOCATE,
  GS_COST_FREE,
  GS_COST_REGISTER, /* memory of the program that is pinned, and unpinned */
  GS_COST_PAGE,     /* pages of 4 KiB of that */
  GS_COST_MAP,      /* calls that give or take access to memory */
  GS_COST_QUEUE,    /* queues made */
  GS_COST_EVENT,    /* events made */
  GS_COST_KINDS
} gs_cost_t;

/* How often each happened. Zeroed is empty. */
typedef struct gs_costs {
  _Atomic uint64_t count[GS_COST_KINDS];
} gs_costs_t;

/* Counts; NULL counts nothing. Thread-safe. */
static inline void gs_cost_add(gs_costs_t *costs, gs_cost_t kind, uint64_t count) {
  if (costs)
    atomic_fetch_add_explicit(&costs->count[kind], count, memory_order_relaxed);
}

/* What one takes, in picoseconds (an estimate). */
uint64_t gs_cost_unit(gs_cost_t kind, gs_link_t link);
/* What the table calls it. */
const char *gs_cost_name(gs_cost_t kind);
/* What a kernel takes besides computing, in picoseconds: its start, its waits for the host's memory, and what
 * goes over the link for it. */
uint64_t gs_cost_of_kernels(uint64_t dispatches, uint64_t trips, uint64_t lines, gs_link_t link);

/* Prints a table of what was counted, with a line for the sum, and forgets it; nothing if there is nothing.
 * `title` says of whom. Not while others count. */
void gs_costs_print(gs_costs_t *costs, gs_link_t link, const char *title, FILE *out);

#endif
