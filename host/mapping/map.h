/* The mapping engine: what map clauses do, for data constructs and target regions. It knows no device, see
 * device.h, and no ABI but the arrays of arguments, whose form no compiler has changed yet.
 *
 * An operation is a map_work_t from its beginning to its end:
 *
 *     map_work_begin(&work, table, stream, options);
 *     if (map_enter(&work, &arguments) == MAP_OK) {       a target region
 *       launch(work.words, work.word_count);
 *       map_leave(&work);                                  begins the copies back
 *     }
 *     do
 *       if (work.busy || ...) wait for the stream;
 *     while (map_work_end(&work) == MAP_AGAIN);            what is to be done behind the device
 *
 * and for data constructs map_begin, map_end or map_update in place of enter and leave. Between the last call
 * and map_work_end may pass any time, and the latter may be in another thread (nowait). */
#ifndef MAP_MAP_H
#define MAP_MAP_H

#include "table.h"

/* Bits of a map's type. */
#define MAP_TO             UINT64_C(0x1)
#define MAP_FROM           UINT64_C(0x2)
#define MAP_ALWAYS         UINT64_C(0x4)
#define MAP_DELETE         UINT64_C(0x8)
#define MAP_PTR_AND_OBJ    UINT64_C(0x10)
#define MAP_TARGET_PARAM   UINT64_C(0x20)
#define MAP_RETURN_PARAM   UINT64_C(0x40)
#define MAP_PRIVATE        UINT64_C(0x80)
#define MAP_LITERAL        UINT64_C(0x100)
#define MAP_IMPLICIT       UINT64_C(0x200)
#define MAP_CLOSE          UINT64_C(0x400)
#define MAP_PRESENT        UINT64_C(0x1000)
#define MAP_HOLD           UINT64_C(0x2000)
#define MAP_ATTACH         UINT64_C(0x4000)
#define MAP_NON_CONTIGUOUS (UINT64_C(1) << 44)
#define MAP_MEMBER_OF      (UINT64_C(0xffff) << 48)
#define MAP_MEMBER_SHIFT   48
#define MAP_MEMBER_ONE     (UINT64_C(1) << MAP_MEMBER_SHIFT)

/* The arrays of one construct, as the compiler passes them; they and this must stay until the work has ended,
 * or map_work_keep. `bases` is
 * written to for RETURN_PARAM. */
typedef struct map_arguments {
  uint32_t count;
  void **bases;
  void **begins;        /* of non-contiguous updates: their map_dimension_t */
  const int64_t *sizes; /* of non-contiguous updates: how many of these */
  const int64_t *types; /* MAP_ bits */
  void *const *names;   /* strings; may be NULL, or have NULL in it */
  void *const *mappers; /* functions, see map_mapper_t; likewise */
} map_arguments_t;

typedef struct map_dimension {
  uint64_t offset, count, stride;
} map_dimension_t;

/* What a compiler makes of `declare mapper`: it calls map_mapper_push by its ABI's name with the same handle.
 */
typedef void map_mapper_t(void *handle, void *base, void *begin, int64_t size, int64_t type, void *name);
void map_mapper_push(void *handle, void *base, void *begin, int64_t size, int64_t type, void *name);
int64_t map_mapper_count(void *handle);

/* Options of a work. */
enum {
  /* A use_device_ptr of what is not mapped keeps its value (22 on), else it is NULL. */
  MAP_KEEP_HOST_POINTERS = 1,
  /* So does a pointer that a region uses, when nothing is mapped where it points (16 on, as OpenMP 5.1 has
     it). */
  MAP_KEEP_POINTER_ARGUMENTS = 2,
  /* Sections that are not contiguous have offsets in bytes (23 on), else in strides of their dimension. */
  MAP_OFFSETS_IN_BYTES = 4,
};

enum { MAP_WORDS_INLINE = 64, MAP_ITEMS_INLINE = 24 };

/* What an argument, or component of a mapper, needs behind the first pass. For the engine, see work.h. */
typedef struct map_item {
  struct map_entry *entry;
  uintptr_t host;
  uint64_t bytes, type;
  const char *name;
  uint64_t value;
  uint64_t units;
  union {
    struct map_shadow *shadow;
    void *memory; /* to be released at the work's end */
  };
  uint32_t flags;
  int32_t behind; /* the item that answers for the entry is so many items in front of this */
  uint32_t argument, word;
} map_item_t;

/* An operation under way; some 3 KiB, for the stack of whoever waits. Does not move. */
typedef struct map_work {
  map_table_t *table;
  void *stream;
  uint32_t options;

  /* For the caller: whether the stream was given anything; and what the kernel gets, until the work's end. */
  bool busy;
  uint32_t word_count;
  void **words;

  /* The rest is the engine's. */
  map_operation_t operation;
  uint32_t todo; /* see work.h */
  uint32_t held_count;
  const map_arguments_t *arguments; /* while there are held ones */
  map_mark_t mark;                  /* of what it has filled */
  uint32_t item_count, item_capacity;
  map_item_t *items;
  struct map_room *room;   /* when the arrays below are too short */
  struct map_stack *stack; /* components of mappers */
  struct map_private *privates;
  struct map_plan *plan; /* of a region, see plan.h */
  void *inline_words[MAP_WORDS_INLINE];
  map_item_t inline_items[MAP_ITEMS_INLINE];
  struct map_entry *held[MAP_WORDS_INLINE]; /* by a region that needs nothing else, see work.h */
} map_work_t;

/* `stream` is passed to the device's functions. Costs a few stores: most of the structure stays as it is. */
static inline void map_work_begin(map_work_t *work, map_table_t *table, void *stream, uint32_t options) {
  work->table = table;
  work->stream = stream;
  work->options = options;
  work->busy = false;
  work->word_count = 0;
  work->words = work->inline_words;
  work->operation = MAP_BEGIN;
  work->todo = 0;
  work->held_count = 0;
  work->mark = 0;
  work->item_count = 0;
  work->item_capacity = MAP_ITEMS_INLINE;
  work->items = work->inline_items;
  work->room = NULL;
  work->stack = NULL;
  work->privates = NULL;
  work->plan = NULL;
}

/* Each of these does its part of one construct and describes its failures; a work does one construct. After a
 * failure nothing of the construct is mapped (of an end or update: what could be done was done), and
 * map_work_end is still to be called. Thread-safe, each work by itself. Data that another thread is just
 * mapping is waited for as far as the device's memory goes, and else by the stream. */
MAP_MUST_CHECK map_status_t map_begin(map_work_t *work, const map_arguments_t *arguments);
MAP_MUST_CHECK map_status_t map_end(map_work_t *work, const map_arguments_t *arguments);
MAP_MUST_CHECK map_status_t map_update(map_work_t *work, const map_arguments_t *arguments);
MAP_MUST_CHECK map_status_t map_enter(map_work_t *work, const map_arguments_t *arguments);
MAP_MUST_CHECK map_status_t map_leave(map_work_t *work);

/* The arguments will not stay any longer; the work goes on. */
void map_work_keep(map_work_t *work);

/* After the stream was waited for, or has failed for good: restores pointers, removes and frees what has
 * become unmapped. To be called for each work, whatever happened; a region that was entered and not left is
 * left without copies. MAP_AGAIN, rarely: copies back were begun, because others left the same data while
 * this work waited. Then the stream is to be waited for, and this to be called again. */
MAP_MUST_CHECK map_status_t map_work_end(map_work_t *work);

#endif
