/* OpenMP's copies: between host and devices, of blocks of arrays, and filling memory; at once, or as tasks.
 * Not here: copies that maps make (mapping). */
#include "api.h"
#include "checker.h"
#include "libomp.h"
#include "message.h"
#include "ompt.h"

#include "stream/exchange.h"

#include <limits.h>
#include <stdlib.h>

/* ---- one piece ---- */

/* Where a copy goes: the stream is of one of its devices, or NULL where both ends are on the host. */
typedef struct way {
  tgt_device_t *to, *from; /* NULL: the host */
  atmi_stream_t *stream;
  const void *code; /* where the program called */
} way_t;

static bool find_end(int number, tgt_device_t **device) {
  *device = NULL;
  return tgt_is_host(number) || (*device = tgt_api_device(number, "copy memory"));
}

static bool begin(int to, int from, const void *code, way_t *way) {
  way->stream = NULL;
  way->code = code;
  if (!find_end(to, &way->to) || !find_end(from, &way->from))
    return false;
  tgt_device_t *one = way->from ? way->from : way->to;
  return !one || !tgt_stream_take(one, &way->stream);
}

static bool end(way_t *way, bool done) {
  if (!way->stream)
    return done;
  atmi_status_t status = tgt_stream_wait(way->stream);
  tgt_stream_put(way->stream);
  return done && !status;
}

/* The same, and the thread returns to the program. */
static int finish(way_t *way, bool done) {
  done = end(way, done);
  tgt_checker_returns();
  return done ? TGT_DONE : TGT_FAILED;
}

static inline bool copy_with_device(const way_t *way, void *to, const void *from, size_t bytes) {
  if (way->to && way->from)
    return !atmi_exchange(way->stream, from, way->to->core, to, bytes);
  if (way->to)
    return tgt_device_functions.submit(way->to, way->stream, to, from, bytes);
  return tgt_device_functions.retrieve(way->from, way->stream, to, from, bytes);
}

static __attribute__((noinline)) bool copy_and_tell(const way_t *way, void *to, const void *from,
                                                    size_t bytes) {
  tgt_told_data_t data = {.kind = way->from ? TGT_OMPT_FROM_DEVICE : TGT_OMPT_TO_DEVICE,
                          .from = from,
                          .from_device = tgt_ompt_number(way->from),
                          .to = to,
                          .to_device = tgt_ompt_number(way->to),
                          .bytes = bytes,
                          .code = way->code};
  tgt_ompt_data_begin(&data);
  tgt_checker_caller(way->code);
  bool done = copy_with_device(way, to, from, bytes);
  tgt_checker_caller(NULL);
  tgt_ompt_data_end(&data);
  if (!way->to)
    tgt_checker_brought((uintptr_t)from, (uintptr_t)to, bytes);
  return done;
}

static bool copy(const way_t *way, void *to, const void *from, size_t bytes) {
  if (!bytes)
    return true;
  if (!way->stream) {
    memmove(to, from, bytes);
    return true;
  }
  return tgt_ompt_is_on() ? copy_and_tell(way, to, from, bytes) : copy_with_device(way, to, from, bytes);
}

static inline int copy_now(void *destination, const void *source, size_t bytes, size_t destination_offset,
                           size_t source_offset, int destination_device, int source_device,
                           const void *code) {
  way_t way;
  if (!bytes)
    return TGT_DONE;
  if (!destination || !source) {
    tgt_error("Call to omp_target_memcpy with invalid arguments");
    return TGT_FAILED;
  }
  if (!begin(destination_device, source_device, code, &way))
    return TGT_FAILED;
  bool done =
      copy(&way, (char *)destination + destination_offset, (const char *)source + source_offset, bytes);
  return finish(&way, done);
}

TGT_EXPORT int omp_target_memcpy(void *destination, const void *source, size_t bytes,
                                 size_t destination_offset, size_t source_offset, int destination_device,
                                 int source_device) {
  return copy_now(destination, source, bytes, destination_offset, source_offset, destination_device,
                  source_device, __builtin_return_address(0));
}

/* ---- blocks of arrays ---- */

typedef struct block {
  int dimensions;
  const size_t *volume, *to_offsets, *from_offsets, *to_sizes, *from_sizes;
} block_t;

/* The bytes of one step in a dimension: all of the dimensions inside it. */
static size_t step(size_t element_bytes, int dimensions, const size_t *sizes, int dimension) {
  size_t bytes = element_bytes;
  for (int i = dimension + 1; i < dimensions; i++)
    bytes *= sizes[i];
  return bytes;
}

/* Whether all of it can be counted: the first dimension's size does not matter. */
static bool is_countable(const size_t *volume, const size_t *offsets, const size_t *sizes, int dimensions,
                         size_t element_bytes) {
  size_t bytes = element_bytes, end;
  for (int i = dimensions; i-- > 0;)
    if (__builtin_add_overflow(offsets[i], volume[i], &end) || __builtin_mul_overflow(end, bytes, &end) ||
        (i && __builtin_mul_overflow(bytes, sizes[i], &bytes)))
      return false;
  return true;
}

static bool copy_block(const way_t *way, const block_t *block, int dimension, size_t element_bytes, char *to,
                       const char *from) {
  size_t to_step = step(element_bytes, block->dimensions, block->to_sizes, dimension);
  size_t from_step = step(element_bytes, block->dimensions, block->from_sizes, dimension);
  to += block->to_offsets[dimension] * to_step;
  from += block->from_offsets[dimension] * from_step;
  if (dimension == block->dimensions - 1)
    return copy(way, to, from, element_bytes * block->volume[dimension]);
  for (size_t i = 0; i < block->volume[dimension]; i++)
    if (!copy_block(way, block, dimension + 1, element_bytes, to + i * to_step, from + i * from_step))
      return false;
  return true;
}

static int copy_block_now(void *destination, const void *source, size_t element_bytes, int dimensions,
                          const size_t *volume, const size_t *destination_offsets,
                          const size_t *source_offsets, const size_t *destination_sizes,
                          const size_t *source_sizes, int destination_device, int source_device,
                          const void *code) {
  way_t way;
  if (!destination && !source)
    return INT_MAX;
  if (!destination || !source || !element_bytes || dimensions < 1 || !volume || !destination_offsets ||
      !source_offsets || !destination_sizes || !source_sizes) {
    tgt_error("Call to omp_target_memcpy_rect with invalid arguments");
    return TGT_FAILED;
  }
  if (!is_countable(volume, destination_offsets, destination_sizes, dimensions, element_bytes) ||
      !is_countable(volume, source_offsets, source_sizes, dimensions, element_bytes)) {
    tgt_error(
        "Call to omp_target_memcpy_rect with invalid arguments: it reaches beyond the end of all memory");
    return TGT_FAILED;
  }
  const block_t block = {dimensions,        volume,      destination_offsets, source_offsets,
                         destination_sizes, source_sizes};
  if (!begin(destination_device, source_device, code, &way))
    return TGT_FAILED;
  bool done = copy_block(&way, &block, 0, element_bytes, destination, source);
  return finish(&way, done);
}

TGT_EXPORT int omp_target_memcpy_rect(void *destination, const void *source, size_t element_bytes,
                                      int dimensions, const size_t *volume, const size_t *destination_offsets,
                                      const size_t *source_offsets, const size_t *destination_sizes,
                                      const size_t *source_sizes, int destination_device, int source_device) {
  return copy_block_now(destination, source, element_bytes, dimensions, volume, destination_offsets,
                        source_offsets, destination_sizes, source_sizes, destination_device, source_device,
                        __builtin_return_address(0));
}

/* ---- filling ---- */

enum { FILL_BYTES = 1 << 16 };

/* From a block of host memory, again and again. */
static bool fill(tgt_device_t *device, char *memory, int value, size_t bytes) {
  atmi_stream_t *stream;
  size_t most = bytes < FILL_BYTES ? bytes : FILL_BYTES;
  char *pattern = malloc(most);
  if (!pattern || tgt_stream_take(device, &stream)) {
    if (!pattern)
      atmi_fail(ATMI_NO_MEMORY, device->core->label, "cannot fill memory: out of host memory");
    free(pattern);
    return false;
  }
  memset(pattern, value, most);
  bool done = true;
  for (size_t at = 0; done && at < bytes; at += most) {
    size_t piece = bytes - at < most ? bytes - at : most;
    done = tgt_device_functions.submit(device, stream, memory + at, pattern, piece);
  }
  atmi_status_t status = tgt_stream_wait(stream);
  tgt_stream_put(stream);
  free(pattern);
  return done && !status;
}

/* A copy from nowhere, for a tool. */
static __attribute__((noinline)) bool fill_and_tell(tgt_device_t *device, void *memory, int value,
                                                    size_t bytes, const void *code) {
  tgt_told_data_t data = {.kind = TGT_OMPT_TO_DEVICE,
                          .from_device = tgt_ompt_number(NULL),
                          .to = memory,
                          .to_device = tgt_ompt_number(device),
                          .bytes = bytes,
                          .code = code};
  tgt_ompt_data_begin(&data);
  bool done = fill(device, memory, value, bytes);
  tgt_ompt_data_end(&data);
  return done;
}

static void *fill_now(void *memory, int value, size_t bytes, int number, const void *code) {
  if (!memory || !bytes)
    return memory;
  if (tgt_is_host(number))
    return memset(memory, value, bytes);
  tgt_device_t *device = tgt_api_device(number, "fill memory");
  bool is_told = tgt_ompt_is_on();
  if (device &&
      (is_told ? fill_and_tell(device, memory, value, bytes, code) : fill(device, memory, value, bytes)))
    return memory;
  tgt_error("omp_target_memset failed: the memory on device %d is as it was, or partly filled", number);
  return memory;
}

TGT_EXPORT void *omp_target_memset(void *memory, int value, size_t bytes, int number) {
  return fill_now(memory, value, bytes, number, __builtin_return_address(0));
}

/* ---- as tasks ---- */

/* What a task of ours is to do. It owns its copies of the caller's arrays. */
typedef struct job {
  enum { JOB_COPY, JOB_BLOCK, JOB_FILL } kind;
  void *destination;
  const void *source;
  size_t bytes, destination_offset, source_offset; /* bytes: of an element for a block */
  int destination_device, source_device, value;
  int dimensions;
  const void *code; /* where the program called */
  size_t arrays[];  /* five of them, one behind the other */
} job_t;

static int do_job(const job_t *job) {
  const size_t *arrays = job->arrays;
  int n = job->dimensions;
  if (job->kind == JOB_FILL) {
    fill_now(job->destination, job->value, job->bytes, job->destination_device, job->code);
    return TGT_DONE;
  }
  if (job->kind == JOB_COPY)
    return copy_now(job->destination, job->source, job->bytes, job->destination_offset, job->source_offset,
                    job->destination_device, job->source_device, job->code);
  return copy_block_now(job->destination, job->source, job->bytes, n, arrays, arrays + n, arrays + 2 * n,
                        arrays + 3 * n, arrays + 4 * n, job->destination_device, job->source_device,
                        job->code);
}

static int32_t run_task(int32_t thread, tgt_task_t *task) {
  (void)thread;
  job_t *job = task->shared;
  int result = do_job(job);
  free(job);
  if (result)
    tgt_error("a copy that was begun by omp_target_memcpy_async or omp_target_memcpy_rect_async failed");
  return result;
}

/* Makes a task of it, which runs when what it depends on is done; where libomp cannot, it is done now. */
static int give_to_task(job_t *job, int depend_count, void *depend_list) {
  enum { HELPER_TASK = 0x80, TASK_BYTES = 40 }; /* libomp's flag, and the size of its kmp_task_t */
  if (!job) {
    atmi_fail(ATMI_NO_MEMORY, NULL, "cannot copy in a task: out of host memory");
    return TGT_FAILED;
  }
  tgt_task_t *task = NULL;
  int32_t thread = 0;
  if (__kmpc_omp_target_task_alloc && __kmpc_omp_task_with_deps && __kmpc_global_thread_num) {
    thread = __kmpc_global_thread_num(NULL);
    task = __kmpc_omp_target_task_alloc(NULL, thread, HELPER_TASK, TASK_BYTES, 0, run_task, -1);
  }
  if (!task) {
    int result = do_job(job);
    free(job);
    return result;
  }
  task->shared = job;
  int32_t status = __kmpc_omp_task_with_deps(NULL, thread, task, depend_count, depend_list, 0, NULL);
  return status ? TGT_FAILED : TGT_DONE;
}

/* The list of depend objects, each a pointer to an array of dependences with one in front of it. */
static int with_dependences(job_t *job, int count, void *const *objects) {
  tgt_depend_t *all = NULL;
  size_t total = 0;
  for (int i = 0; i < count; i++) {
    /* The element in front of an object's first one has the number of them as its address. */
    const tgt_depend_t *list = objects ? objects[i] : NULL;
    size_t more = list ? (size_t)list[-1].address : 0;
    tgt_depend_t *longer = more ? realloc(all, (total + more) * sizeof *all) : all;
    if (more && !longer) {
      free(all);
      free(job);
      return give_to_task(NULL, 0, NULL);
    }
    all = longer;
    if (more)
      memcpy(all + total, list, more * sizeof *all);
    total += more;
  }
  int result = give_to_task(job, (int)total, all);
  free(all);
  return result;
}

TGT_EXPORT int omp_target_memcpy_async(void *destination, const void *source, size_t bytes,
                                       size_t destination_offset, size_t source_offset,
                                       int destination_device, int source_device, int depend_count,
                                       void *depend_list) {
  if (!destination || !source) {
    tgt_error("Call to omp_target_memcpy_async with invalid arguments");
    return TGT_FAILED;
  }
  job_t *job = malloc(sizeof *job);
  if (job)
    *job = (job_t){.kind = JOB_COPY,
                   .code = __builtin_return_address(0),
                   .destination = destination,
                   .source = source,
                   .bytes = bytes,
                   .destination_offset = destination_offset,
                   .source_offset = source_offset,
                   .destination_device = destination_device,
                   .source_device = source_device};
  return with_dependences(job, depend_count, depend_list);
}

TGT_EXPORT int omp_target_memcpy_rect_async(void *destination, const void *source, size_t element_bytes,
                                            int dimensions, const size_t *volume,
                                            const size_t *destination_offsets, const size_t *source_offsets,
                                            const size_t *destination_sizes, const size_t *source_sizes,
                                            int destination_device, int source_device, int depend_count,
                                            void *depend_list) {
  if (!destination && !source)
    return INT_MAX;
  const size_t *const arrays[] = {volume, destination_offsets, source_offsets, destination_sizes,
                                  source_sizes};
  enum { ARRAYS = sizeof arrays / sizeof *arrays };
  bool complete = destination && source && element_bytes && dimensions > 0;
  for (int i = 0; i < ARRAYS; i++)
    complete = complete && arrays[i];
  if (!complete) {
    tgt_error("Call to omp_target_memcpy_rect_async with invalid arguments");
    return TGT_FAILED;
  }
  size_t count = (size_t)dimensions;
  job_t *job = malloc(sizeof *job + ARRAYS * count * sizeof *job->arrays);
  if (job) {
    *job = (job_t){.kind = JOB_BLOCK,
                   .code = __builtin_return_address(0),
                   .destination = destination,
                   .source = source,
                   .bytes = element_bytes,
                   .destination_device = destination_device,
                   .source_device = source_device,
                   .dimensions = dimensions};
    for (size_t i = 0; i < ARRAYS; i++)
      memcpy(job->arrays + i * count, arrays[i], count * sizeof *job->arrays);
  }
  return with_dependences(job, depend_count, depend_list);
}

TGT_EXPORT void *omp_target_memset_async(void *memory, int value, size_t bytes, int device, int depend_count,
                                         void *depend_list) {
  if (!memory || !bytes)
    return memory;
  job_t *job = malloc(sizeof *job);
  if (job)
    *job = (job_t){.kind = JOB_FILL,
                   .code = __builtin_return_address(0),
                   .destination = memory,
                   .bytes = bytes,
                   .value = value,
                   .destination_device = device};
  with_dependences(job, depend_count, depend_list);
  return memory;
}
