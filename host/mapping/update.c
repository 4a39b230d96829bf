/* target update: copies to and from what is present, in one piece or in many. Counts nothing; what it copies
 * is pinned until its end. */
#include "one.h"
#include "work.h"

#include "base/process_memory.h"

/* More than any array has. */
enum { DIMENSIONS_MOST = 64 };
/* Of sections that lie in several entries, each piece is looked up. */
#define PIECES_MOST (UINT64_C(1) << 24)

static const char not_present[] = "device mapping required by 'present' motion modifier does not exist",
                  damaged_section[] = "the descriptor of a section that is not contiguous is damaged";

/* A section that is not contiguous: the last of `count` dimensions is a piece. */
typedef struct shape {
  const map_dimension_t *dimensions;
  uint32_t count;
  bool in_bytes;       /* offsets are, as since clang 23; else multiples of the dimension's stride */
  uint64_t piece;      /* bytes of one */
  uint64_t pieces;     /* how many */
  uint64_t first, end; /* of all, behind the base */
} shape_t;

/* Bytes from the base to the first element of a dimension, and to the last. False if they cannot be. */
static bool add_dimension(const map_dimension_t *dimension, shape_t *shape) {
  uint64_t first, last;
  return dimension->count && dimension->stride &&
         !__builtin_mul_overflow(dimension->offset, shape->in_bytes ? 1 : dimension->stride, &first) &&
         !__builtin_mul_overflow(dimension->count - 1, dimension->stride, &last) &&
         !__builtin_add_overflow(first, last, &last) &&
         !__builtin_add_overflow(shape->first, first, &shape->first) &&
         !__builtin_add_overflow(shape->end, last, &shape->end);
}

/* Dimensions at the end that follow each other without a gap are one piece. */
static bool merge(shape_t *shape) {
  const map_dimension_t *dimensions = shape->dimensions;
  uint32_t last = shape->count - 1;
  if (__builtin_mul_overflow(dimensions[last].count, dimensions[last].stride, &shape->piece))
    return false;
  for (; last && !dimensions[last].offset && shape->piece == dimensions[last - 1].stride; last--)
    if (__builtin_mul_overflow(shape->piece, dimensions[last - 1].count, &shape->piece))
      return false;
  shape->count = last + 1;
  shape->pieces = 1;
  for (uint32_t i = 0; i < last; i++)
    if (__builtin_mul_overflow(shape->pieces, dimensions[i].count, &shape->pieces))
      return false;
  return true;
}

/* Reads the descriptor of a section, for a work with these options. False if it is damaged. */
static bool read_shape(const map_dimension_t *dimensions, int64_t count, uint32_t options, shape_t *shape) {
  if (!dimensions || count <= 0 || count > DIMENSIONS_MOST)
    return false;
  *shape = (shape_t){
      .dimensions = dimensions, .count = (uint32_t)count, .in_bytes = options & MAP_OFFSETS_IN_BYTES};
  for (uint32_t i = 0; i < shape->count; i++)
    if (!add_dimension(&dimensions[i], shape))
      return false;
  return !__builtin_add_overflow(shape->end, dimensions[count - 1].stride, &shape->end) && merge(shape);
}

/* Calls for each piece of a section, until one says false. */
static bool each_piece(const shape_t *shape, uintptr_t base, bool (*call)(void *context, uintptr_t host),
                       void *context) {
  uint64_t at[DIMENSIONS_MOST] = {0};
  for (;;) {
    uintptr_t host = base + shape->first;
    for (uint32_t i = 0; i < shape->count; i++)
      host += at[i] * shape->dimensions[i].stride;
    if (!call(context, host))
      return false;
    uint32_t i = shape->count - 1;
    while (i && ++at[i - 1] == shape->dimensions[i - 1].count)
      at[--i] = 0;
    if (!i)
      return true;
  }
}

/* ---- the pass ---- */

static bool note_missing(map_pass_t *pass, const map_component_t *component) {
  if (component->type & MAP_PRESENT && !pass->wrong) {
    pass->wrong = not_present;
    pass->range = (map_range_t){component->begin, (uint64_t)component->size, component->name};
  }
  if (!pass->notes)
    return true;
  map_item_t *item = map_work_add(pass->work, NULL, component);
  if (item)
    item->flags = MAP_ITEM_ABSENT;
  return item != NULL;
}

/* A range in one piece, or (`pieces`) all of a section. False without memory. */
static bool update_range(map_pass_t *pass, const map_component_t *component, map_entry_t *entry,
                         bool pieces) {
  map_work_t *work = pass->work;
  map_item_t *item = map_work_add(work, entry, component);
  uint64_t before = 0;
  if (!item)
    return false;
  item->flags = (component->type & MAP_TO ? MAP_ITEM_SUBMIT : 0) |
                (component->type & MAP_FROM ? MAP_ITEM_RETRIEVE : 0) | (pieces ? MAP_ITEM_PIECES : 0);
  map_item_t *leader = map_work_lead(pass, item);
  if (leader == item) {
    if (!map_entry_take(entry, MAP_PIN_ONE, &before))
      return false;
    item->units = MAP_PIN_ONE;
    if (before & MAP_FILLING || atomic_load_explicit(&entry->mark, memory_order_acquire)) {
      item->flags |= MAP_ITEM_WAIT;
      work->todo |= MAP_ITEM_WAIT;
    }
  }
  work->todo |= MAP_TODO_DROP | MAP_ITEM_SUBMIT;
  if (__builtin_expect(!entry->shadow_count, 1))
    return true;
  if (component->type & MAP_FROM) {
    item->flags |= MAP_ITEM_RETRIEVED;
    work->todo |= MAP_ITEM_RETRIEVED | MAP_TODO_RESTORE;
  }
  return !(component->type & MAP_TO) || map_pass_keep_shadows(pass, item);
}

static bool update_one(map_pass_t *pass, const map_component_t *component) {
  map_entry_t *entry;
  if (!component->size && !(component->type & MAP_PRESENT))
    return true;
  if (map_table_look_up(pass->table, component->begin, (uint64_t)component->size, &entry) != MAP_CONTAINED ||
      !(map_entry_word(entry) & MAP_COUNTS)) {
    if (map_component_is_sane(component))
      return note_missing(pass, component);
    pass->wrong = map_insane;
    pass->range = (map_range_t){component->begin, (uint64_t)component->size, component->name};
    return true;
  }
  return !component->size || update_range(pass, component, entry, false);
}

typedef struct piecewise {
  map_pass_t *pass;
  map_component_t piece;
} piecewise_t;

static bool update_piece(void *context, uintptr_t host) {
  piecewise_t *piecewise = context;
  piecewise->piece.begin = host;
  return update_one(piecewise->pass, &piecewise->piece);
}

static bool damaged(map_pass_t *pass, const map_component_t *component) {
  pass->wrong = damaged_section;
  pass->range = (map_range_t){component->base, 0, component->name};
  return true;
}

/* Mostly all pieces are in one entry, without pointers in it. Else each one is looked for. */
static bool update_section(map_pass_t *pass, const map_component_t *component) {
  shape_t shape;
  map_entry_t *entry;
  if (!read_shape((const map_dimension_t *)component->begin, component->size, pass->work->options, &shape) ||
      shape.end > UINT64_MAX - component->base)
    return damaged(pass, component);
  map_component_t whole = *component;
  whole.begin = component->base + shape.first;
  whole.size = (int64_t)(shape.end - shape.first);
  map_relation_t relation = map_table_look_up(pass->table, whole.begin, (uint64_t)whole.size, &entry);
  if (relation == MAP_NOTHING)
    return note_missing(pass, &whole);
  if (relation == MAP_CONTAINED && map_entry_word(entry) & MAP_COUNTS && !entry->shadow_count) {
    uint32_t index = pass->work->item_count;
    if (!update_range(pass, &whole, entry, true))
      return false;
    map_item_t *item = &pass->work->items[index]; /* the descriptor is read again for the copies */
    item->value = component->begin;
    item->argument = (uint32_t)component->size;
    return true;
  }
  if (shape.pieces > PIECES_MOST)
    return damaged(pass, component);
  piecewise_t piecewise = {pass, whole};
  piecewise.piece.size = (int64_t)shape.piece;
  piecewise.piece.type &= ~MAP_NON_CONTIGUOUS;
  return each_piece(&shape, component->base, update_piece, &piecewise);
}

static bool update_component(map_pass_t *pass, const map_component_t *component) {
  if (component->type & (MAP_LITERAL | MAP_PRIVATE | MAP_ATTACH))
    return true;
  return __builtin_expect((component->type & MAP_NON_CONTIGUOUS) != 0, 0) ? update_section(pass, component)
                                                                          : update_one(pass, component);
}

static bool update_all(map_pass_t *pass) {
  const map_arguments_t *arguments = pass->arguments;
  map_component_t component;
  for (uint32_t i = 0; i < arguments->count; i++) {
    map_argument_get(arguments, i, &component);
    const map_component_t *components = &component;
    uint32_t count = 1;
    if (__builtin_expect(arguments->mappers && arguments->mappers[i], 0) &&
        !(component.type & (MAP_LITERAL | MAP_PRIVATE)))
      count = map_stack_of(pass->work, i, &components);
    for (uint32_t j = 0; j < count; j++)
      if (!update_component(pass, &components[j]))
        return false;
  }
  return true;
}

/* ---- the copies ---- */

typedef struct copying {
  map_work_t *work;
  const map_item_t *item;
  uint64_t bytes;
  map_status_t status;
} copying_t;

static bool copy_piece(void *context, uintptr_t host) {
  copying_t *copying = context;
  if (map_listens(copying->work->table))
    map_work_note_part(copying->work, MAP_NOTE_PARAMETER, copying->item, host, copying->bytes);
  if (copying->item->flags & MAP_ITEM_SUBMIT)
    copying->status = map_work_submit(copying->work, copying->item, host, copying->bytes);
  if (copying->item->flags & MAP_ITEM_RETRIEVE && !copying->status)
    copying->status = map_work_retrieve(copying->work, copying->item, host, copying->bytes);
  return !copying->status;
}

static map_status_t copy_item(map_work_t *work, map_item_t *item) {
  copying_t copying = {work, item, item->bytes, MAP_OK};
  shape_t shape;
  if (item->flags & MAP_ITEM_AGAIN)
    return map_work_write_shadow(work, item);
  if (__builtin_expect(!(item->flags & MAP_ITEM_PIECES), 1)) {
    (void)copy_piece(&copying, item->host);
  } else if (read_shape((const map_dimension_t *)(uintptr_t)item->value, item->argument, work->options,
                        &shape)) {
    copying.bytes = shape.piece;
    (void)each_piece(&shape, item->host - shape.first, copy_piece, &copying);
  }
  return copying.status;
}

static map_status_t describe(const map_pass_t *pass) {
  const map_range_t *range = &pass->range;
  if (pass->wrong == map_insane)
    return map_fail_insane(pass->table, range);
  if (pass->wrong == damaged_section)
    return map_fail_near(pass->table, MAP_INVALID, range, "%s", damaged_section);
  return map_fail_near(pass->table, MAP_ABSENT, range, "%s for host address 0x%016llx (%lld bytes)",
                       not_present, (unsigned long long)range->host, (long long)range->bytes);
}

/* ---- all of it ---- */

/* Descriptors are read under the lock: this is asked in front of it. */
static map_status_t check_descriptors(map_table_t *table, const map_arguments_t *arguments) {
  for (uint32_t i = 0; i < arguments->count; i++) {
    uint64_t count = (uint64_t)arguments->sizes[i];
    if (__builtin_expect(!((uint64_t)arguments->types[i] & MAP_NON_CONTIGUOUS), 1) ||
        count > DIMENSIONS_MOST || !arguments->begins[i] ||
        atmi_process_memory_is_there(arguments->begins[i], count * sizeof(map_dimension_t)))
      continue;
    const map_range_t range = {(uintptr_t)arguments->bases[i], 0,
                               arguments->names ? arguments->names[i] : NULL};
    return map_fail_near(table, MAP_INVALID, &range, "%s", damaged_section);
  }
  return MAP_OK;
}

map_status_t map_update(map_work_t *work, const map_arguments_t *arguments) {
  map_pass_t pass;
  map_status_t status = map_check_arguments(work->table, arguments);
  work->operation = MAP_UPDATE;
  if (!status)
    status = check_descriptors(work->table, arguments);
  if (__builtin_expect(arguments->mappers != NULL, 0) && !status)
    status = map_work_call_mappers(work, arguments);
  if (status)
    return status;
  map_pass_begin(&pass, work, arguments, MAP_UPDATE);
  bool done = update_all(&pass);
  map_pass_end(&pass);
  if (!done)
    return map_fail_memory(work->table, "updating data");
  if (__builtin_expect((work->todo & MAP_ITEM_WAIT) != 0, 0))
    status = map_work_await(work);
  for (uint32_t i = 0; i < work->item_count && !status; i++) {
    map_item_t *item = &work->items[i];
    if (item->flags & MAP_ITEM_ABSENT)
      map_work_note(work, MAP_NOTE_ABSENT, item);
    else
      status = copy_item(work, item);
  }
  return pass.wrong ? describe(&pass) : status;
}

void map_one_fail(map_table_t *table, const map_arguments_t *arguments, const map_entry_t *entry) {
  const char *name = arguments->names ? arguments->names[0] : NULL;
  const map_range_t range = {(uintptr_t)arguments->begins[0], (uint64_t)arguments->sizes[0],
                             name ? name : entry->name};
  map_fail_near(table, MAP_DEVICE, &range, "a copy to the %s has failed",
                arguments->types[0] == MAP_TO ? "device" : "host");
}
