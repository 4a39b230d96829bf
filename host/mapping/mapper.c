/* Mappers: functions that the compiler has made of `declare mapper`, which push the components of an object.
 * Components of all arguments of a construct are in one array, which the next construct uses again. */
#include "work.h"

#include <stdlib.h>
#include <string.h>

enum { STACK_FEWEST = 64 };

/* The components of an argument. */
typedef struct map_share {
  uint32_t argument, first, count;
} map_share_t;

typedef struct map_stack {
  uint32_t count, capacity, share_count, share_capacity;
  uint32_t first; /* of the mapper that is running */
  bool failed;    /* no memory */
  map_share_t *shares;
  map_component_t components[];
} map_stack_t;

/* What mappers get for a handle: the stack may move while they push. LLVM's is a std::vector of components,
 * and there are programs that bring such a vector of their own (LLVM's test declare_mapper_api). Its three
 * words are all of a handle that may be looked at; no vector has a begin without an end, and ours never has
 * an end. */
typedef struct map_handle {
  union {
    map_stack_t *stack;
    map_component_t *begin; /* of a vector: memory of operator new, which is malloc's */
  };
  map_component_t *end, *limit;
} map_handle_t;

static inline bool is_vector(const map_handle_t *handle) {
  return handle->end || !handle->begin;
}

static map_stack_t *grow(map_stack_t *stack) {
  uint32_t capacity = stack ? 2 * stack->capacity : STACK_FEWEST;
  map_stack_t *grown = realloc(stack, sizeof *grown + capacity * sizeof(map_component_t));
  if (!grown)
    return NULL;
  if (!stack)
    memset(grown, 0, sizeof *grown);
  grown->capacity = capacity;
  return grown;
}

/* What cannot be pushed for want of memory is not counted: a vector has no place to note it. */
static void push_to_vector(map_handle_t *vector, const map_component_t *component) {
  if (vector->end == vector->limit) {
    size_t count = (size_t)(vector->end - vector->begin), capacity = count ? 2 * count : 1;
    map_component_t *grown = realloc(vector->begin, capacity * sizeof *grown);
    if (!grown)
      return;
    *vector = (map_handle_t){.begin = grown, .end = grown + count, .limit = grown + capacity};
  }
  /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a vector without memory has grown */
  *vector->end++ = *component;
}

void map_mapper_push(void *handle, void *base, void *begin, int64_t size, int64_t type, void *name) {
  map_handle_t *running = handle;
  map_component_t component = {(uintptr_t)base, (uintptr_t)begin, size, (uint64_t)type, name};
  if (__builtin_expect(is_vector(running), 0)) {
    push_to_vector(running, &component);
    return;
  }
  map_stack_t *stack = running->stack;
  if (stack->count == stack->capacity) {
    map_stack_t *grown = stack->capacity < UINT32_MAX / 2 ? grow(stack) : NULL;
    if (!grown) {
      stack->failed = true;
      return;
    }
    running->stack = stack = grown;
  }
  stack->components[stack->count++] = component;
}

int64_t map_mapper_count(void *handle) {
  const map_handle_t *running = handle;
  const map_stack_t *stack = running->stack;
  return is_vector(running) ? running->end - running->begin : stack->count - stack->first;
}

static bool add_share(map_stack_t *stack, uint32_t argument) {
  if (stack->share_count == stack->share_capacity) {
    uint32_t capacity = stack->share_capacity ? 2 * stack->share_capacity : 8;
    map_share_t *shares = realloc(stack->shares, capacity * sizeof *shares);
    if (!shares)
      return false;
    stack->shares = shares;
    stack->share_capacity = capacity;
  }
  stack->shares[stack->share_count++] = (map_share_t){argument, stack->first, stack->count - stack->first};
  return true;
}

static map_status_t call(map_work_t *work, const map_arguments_t *arguments, uint32_t i) {
  map_handle_t handle = {.stack = work->stack};
  handle.stack->first = handle.stack->count;
  map_mapper_t *mapper;
  memcpy(&mapper, &arguments->mappers[i], sizeof mapper); /* C has no cast for it */
  mapper(&handle, arguments->bases[i], arguments->begins[i], arguments->sizes[i], arguments->types[i],
         arguments->names ? arguments->names[i] : NULL);
  map_stack_t *stack = work->stack = handle.stack;
  if (stack->failed || !add_share(stack, i))
    return map_fail_memory(work->table, "the components of a mapper");
  return MAP_OK;
}

map_status_t map_work_call_mappers(map_work_t *work, const map_arguments_t *arguments) {
  map_status_t status = MAP_OK;
  for (uint32_t i = 0; i < arguments->count && !status; i++) {
    if (!arguments->mappers[i] || (uint64_t)arguments->types[i] & (MAP_LITERAL | MAP_PRIVATE))
      continue;
    if (!work->stack)
      work->stack = atomic_exchange_explicit(&work->table->spare_stack, NULL, memory_order_acquire);
    if (!work->stack)
      work->stack = grow(NULL);
    if (!work->stack)
      return map_fail_memory(work->table, "the components of a mapper");
    status = call(work, arguments, i);
  }
  return status;
}

uint32_t map_stack_of(const map_work_t *work, uint32_t argument, const map_component_t **components) {
  const map_stack_t *stack = work->stack;
  uint32_t first = 0, count = stack->share_count; /* ordered by argument */
  while (count) {
    uint32_t half = count / 2;
    if (stack->shares[first + half].argument < argument) {
      first += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  *components = &stack->components[stack->shares[first].first];
  return stack->shares[first].count;
}

uint32_t map_stack_all(const map_work_t *work, const map_component_t **components) {
  *components = work->stack ? work->stack->components : NULL;
  return work->stack ? work->stack->count : 0;
}

void map_stack_free(map_stack_t *stack) {
  if (stack)
    free(stack->shares);
  free(stack);
}

void map_stack_put(map_work_t *work) {
  map_stack_t *stack = work->stack;
  if (!stack)
    return;
  work->stack = NULL;
  stack->count = stack->share_count = stack->first = 0;
  stack->failed = false;
  map_stack_free(atomic_exchange_explicit(&work->table->spare_stack, stack, memory_order_acq_rel));
}
