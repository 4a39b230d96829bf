/* The blocks of memory that the program has and had, byte for byte, sorted by address; and what a given
 * address is. Not here: who accesses it (bounds.c), who tells of blocks (notes.h). */
#ifndef GFXSIM_CHECK_BLOCKS_H
#define GFXSIM_CHECK_BLOCKS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vm.h"
#include "check/notes.h"

enum { GS_BLOCK_NAME = 128 };

/* A block. */
typedef struct gs_block_note {
  uint64_t id;                     /* of blocks made, counted */
  uint64_t start, end;             /* as the program asked for it */
  uint64_t outer_start, outer_end; /* the pages that are the block's alone */
  bool freed, locked;              /* locked: the host's memory, not allocated */
  const char *call;                /* of HSA that made it */
  gfxsim_stack_t made, gone;
  gfxsim_stack_t shared;    /* who said last which GPUs may access it; depth 0: nobody, or it is not known */
  char name[GS_BLOCK_NAME]; /* of the variable that is mapped there, or empty */
  char file[GS_BLOCK_NAME]; /* where the program has that variable, or empty */
  uint32_t line;
  uint64_t host; /* where the host has what is mapped at `start`, or would; 0: nothing is mapped there */
} gs_block_note_t;

/* What an address is. */
typedef enum gs_verdict {
  GS_VERDICT_GOOD,
  GS_VERDICT_OUTSIDE, /* in a block's pages, and not in the block */
  GS_VERDICT_FREED,   /* in a block that was freed, or in its pages */
  GS_VERDICT_NOTHING, /* nothing is mapped; `block` is the nearest block, if any is near (id 0: none) */
  GS_VERDICT_TAKEN,   /* in a live block, which was given to others, and that GPU does not have any more */
  GS_VERDICT_FOREIGN, /* in a live block that the GPU has no access to, and nobody said who has */
} gs_verdict_t;

typedef struct gs_answer {
  gs_verdict_t verdict;
  uint64_t start, end;   /* of GOOD: all of this is */
  uint64_t id;           /* of GOOD: the block's; 0 = it is nobody's */
  gs_block_note_t block; /* of the others */
} gs_answer_t;

typedef struct gs_blocks {
  pthread_rwlock_t lock; /* of all but `version` */
  gs_block_note_t **at;  /* by start; blocks that were locked, not allocated, may overlap */
  uint64_t *reach;       /* [i]: the highest outer_end of at[0..i] */
  size_t count, capacity, freed;
  uint64_t made;
  /* Changes with every block that comes or goes: GOOD answers are good until then. No two of a process
   * ever have the same. */
  _Atomic uint64_t version;
} gs_blocks_t;

/* Returns 0, or -1 when out of memory. */
int gs_blocks_init(gs_blocks_t *blocks) __attribute__((warn_unused_result));
void gs_blocks_fini(gs_blocks_t *blocks);

/* A new block, whose pages are [outer_start, outer_end); blocks that were there and freed are forgotten.
 * Copies `note`, and gives it an id. Without memory it stays unknown, and accesses to it are good.
 * Thread-safe. */
void gs_blocks_add(gs_blocks_t *blocks, const gs_block_note_t *note);
/* Other memory has come to [start, end), of which nobody gives a note: what was freed there is forgotten.
 * Thread-safe. */
void gs_blocks_forget(gs_blocks_t *blocks, uint64_t start, uint64_t end);
/* The newest block that begins at `address` and lives was freed at `stack`. Thread-safe. */
void gs_blocks_free(gs_blocks_t *blocks, uint64_t address, const gfxsim_stack_t *stack);
/* The live block at `address` was given to other GPUs than before at `stack`. Thread-safe. */
void gs_blocks_share(gs_blocks_t *blocks, uint64_t address, const gfxsim_stack_t *stack);
/* What is at `address`, which lies in the newest block there, is the copy of what is at `host`, and is called
 * so; NULL: it is not known how. Thread-safe. */
void gs_blocks_name(gs_blocks_t *blocks, uint64_t address, uint64_t host, const char *name, const char *file,
                    uint32_t line);

/* A number for which reports about blocks are told once: what is mapped again and again is one variable, if
 * its name is known. */
uint64_t gs_block_identity(const gs_block_note_t *block);

/* The newest live block that contains `address`. False when there is none. Thread-safe. */
bool gs_blocks_find(gs_blocks_t *blocks, uint64_t address, gs_block_note_t *block);

/* A live block that has the copy of what the host has at `address`. Slow. False when there is none.
 * Thread-safe. */
bool gs_blocks_find_copy(gs_blocks_t *blocks, uint64_t address, gs_block_note_t *block);

/* Asks about one address. Memory that is in `map` and not in the pages of a block is ROCr's own, or of a code
 * object: good. Thread-safe. */
void gs_blocks_ask(gs_blocks_t *blocks, const gs_vm_map_t *map, uint64_t address, gs_answer_t *answer);

/* Asks about a whole range, which must be in one block if it touches one. Memory that is nobody's block is
 * good, and with `any_host_memory` what was locked once, too. Thread-safe. */
void gs_blocks_ask_range(gs_blocks_t *blocks, uint64_t address, uint64_t bytes, bool any_host_memory,
                         gs_answer_t *answer);

#endif
