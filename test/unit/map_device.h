/* Ordinary memory as a device for tests of the mapping engine. Copies are done when the stream gets to them,
 * which may be as late as somebody waits for it, so memory that is given back too early is found out. */
#ifndef MAP_DEVICE_TEST_H
#define MAP_DEVICE_TEST_H

#include "map.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct fake_stream fake_stream_t;

typedef struct fake_operation {
  void *to;
  const void *from;
  uint64_t bytes;
  map_mark_t wait;                /* 0: not a wait */
  void (*kernel)(void *argument); /* NULL: not a kernel */
  void *argument;
  void *staged;         /* to be freed then */
  atmi_piece_t *pieces; /* likewise; `bytes` is their number then */
} fake_operation_t;

enum { FAKE_STREAMS = 16, FAKE_OPERATIONS = 8192 };

struct fake_stream {
  struct fake_device *device;
  uint64_t begun;       /* operations so far */
  pthread_mutex_t lock; /* of who executes them */
  atomic_uint_least64_t done;
  atomic_uint random;
  fake_operation_t operations[FAKE_OPERATIONS];
};

typedef struct fake_device {
  fake_stream_t *streams[FAKE_STREAMS];
  atomic_int live;       /* allocations */
  atomic_int calls_left; /* until functions fail; negative: never */
  atomic_int failed;     /* how many calls have */
  bool delays;           /* at random, and streams get on at random times */
  char *room;            /* where allocations lie, one behind the other; NULL: wherever malloc has room */
  const void *unpacked;  /* what is not to be packed; NULL: nothing is so */
  /* Told of each call, in the order of calls: 'A'llocate, 'R'elease, 'T'o, 'F'rom, 'W'ait, 'S'taged to the
   * device, and of a copy of pieces 'G', then 'F' for each. May be NULL. */
  void (*trace)(void *context, char what, const void *host, const void *device, uint64_t bytes);
  void *context;
} fake_device_t;

/* Each copy by itself, and small ones together. */
extern const map_device_functions_t fake_functions, fake_packing_functions;

/* Arguments of a construct, one added after the other. */
enum { FAKE_ARGUMENTS = 4 };
typedef struct fake_list {
  uint32_t count;
  void *bases[FAKE_ARGUMENTS], *begins[FAKE_ARGUMENTS];
  int64_t sizes[FAKE_ARGUMENTS], types[FAKE_ARGUMENTS];
  map_arguments_t arguments;
} fake_list_t;

void fake_add(fake_list_t *list, void *base, void *begin, int64_t size, uint64_t type);
/* They are in the list where it is now. */
map_arguments_t *fake_arguments(fake_list_t *list);

/* Waits for a work's stream and ends it, as often as it wants. */
map_status_t fake_finish(map_work_t *work);

fake_stream_t *fake_stream(fake_device_t *device, uint32_t index);
void fake_fini(fake_device_t *device);
void fake_launch(fake_stream_t *stream, void (*kernel)(void *argument), void *argument);
void fake_synchronize(fake_stream_t *stream);
/* An update and a region as the host runtime does them: the short way if that will do, else by the work,
 * which has begun and is to be ended. `launch` gets the kernel's words, and waits for it. */
map_status_t fake_update(map_work_t *work, const map_arguments_t *arguments);
/* Enters a region that its thread is going to leave and end before it does anything else: by its plan, if it
 * can be, with entries that others see only when they ask. */
map_status_t fake_enter(map_work_t *work, const map_arguments_t *arguments);
map_status_t fake_region(map_work_t *work, const map_arguments_t *arguments,
                         void (*launch)(void *context, const uint64_t *words, uint32_t count), void *context);

#endif
