/* OMPT: what a tool that libomp has loaded is told of devices, constructs, copies and launches. The types are
 * OpenMP's, by names of ours. Not here: what a tool sees of the host (libomp), and traces of the device,
 * which there are none of. */
#ifndef TGT_OMPT_H
#define TGT_OMPT_H

#include "device.h"

/* ---- the interface, as OpenMP 5.1 has it ---- */

typedef union tgt_ompt_data {
  uint64_t value;
  void *pointer;
} tgt_ompt_data_t;

typedef void tgt_ompt_function_t(void);
typedef tgt_ompt_function_t *tgt_ompt_lookup_t(const char *name);

/* What one runtime library gives to the one above it. */
typedef struct tgt_ompt_start {
  int (*initialize)(tgt_ompt_lookup_t *lookup, int initial_device, tgt_ompt_data_t *tool);
  void (*finalize)(tgt_ompt_data_t *tool);
  tgt_ompt_data_t tool;
} tgt_ompt_start_t;

typedef enum tgt_ompt_target {
  TGT_OMPT_TARGET = 1,
  TGT_OMPT_ENTER_DATA = 2,
  TGT_OMPT_EXIT_DATA = 3,
  TGT_OMPT_UPDATE = 4,
  TGT_OMPT_NOWAIT = 8, /* to be added */
} tgt_ompt_target_t;

typedef enum tgt_ompt_operation {
  TGT_OMPT_ALLOCATE = 1,
  TGT_OMPT_TO_DEVICE = 2,
  TGT_OMPT_FROM_DEVICE = 3, /* and from one device to another */
  TGT_OMPT_DELETE = 4,
  TGT_OMPT_ASSOCIATE = 5,
  TGT_OMPT_DISASSOCIATE = 6,
} tgt_ompt_operation_t;

/* libomptarget's plugins of LLVM 17 and 18 call it, to be told what the tool wants to know. */
TGT_EXPORT void ompt_libomptarget_connect(tgt_ompt_start_t *start);

/* ---- the tool ---- */

typedef enum tgt_ompt_event {
  TGT_EVENT_INITIALIZE,
  TGT_EVENT_FINALIZE,
  TGT_EVENT_LOAD,
  TGT_EVENT_UNLOAD,
  TGT_EVENT_TARGET,
  TGT_EVENT_DATA,
  TGT_EVENT_SUBMIT,
  TGT_EVENT_TARGET_EMI, /* a tool that has these is not told the plain ones */
  TGT_EVENT_DATA_EMI,
  TGT_EVENT_SUBMIT_EMI,
  TGT_EVENTS,
} tgt_ompt_event_t;

typedef enum tgt_ompt_state {
  TGT_OMPT_UNKNOWN, /* before a device is used */
  TGT_OMPT_ON,
  TGT_OMPT_WATCHED, /* there is none, but the runtime itself looks on: lint, profile */
  TGT_OMPT_OFF,     /* there is no tool, or it has been finalized */
} tgt_ompt_state_t;

typedef struct tgt_ompt {
  _Atomic tgt_ompt_state_t state;
  _Atomic uint64_t ids; /* given so far: to constructs and operations, where the tool does not number them */
  tgt_ompt_lookup_t *lookup; /* libomp's. This and the following do not change while the state is ON */
  tgt_ompt_function_t *callbacks[TGT_EVENTS];                      /* NULL: not wanted */
  tgt_ompt_data_t *(*task_data)(void), *(*target_task_data)(void); /* of the calling thread; NULL: [-16] */
  struct tgt_ompt_client *_Atomic clients;                         /* who else is to be told of the end */
  bool is_watched;                                                 /* the state is WATCHED instead of OFF */
} tgt_ompt_t;

extern tgt_ompt_t tgt_the_ompt;

/* Whether there is a tool, or the runtime itself looks on. True as well before that is known, and then
 * nothing happened yet. */
static inline bool tgt_ompt_is_on(void) {
  return __builtin_expect(atomic_load_explicit(&tgt_the_ompt.state, memory_order_relaxed) != TGT_OMPT_OFF, 0);
}

/* Has constructs and the API's operations noted, with or without a tool. Before tgt_ompt_connect. */
void tgt_ompt_watch(void);
/* Asks libomp for a tool, the first time it is called; not under a lock. Before a device is used. */
void tgt_ompt_connect(void);
/* The same for a program that seems to have a tool, whose devices it is told of: before `main`, which is when
 * LLVM tells of them. Without one libomp is left alone until a device is used. Thread-safe; not under a lock.
 */
void tgt_ompt_find_tool(void);
/* At the end of the process, if libomp has not ended the tool yet. */
void tgt_ompt_stop(void);

/* ---- devices ---- */

/* The functions for tables of maps that tell the tool, if there is one; else those below. */
const map_device_functions_t *tgt_ompt_functions(void);

/* All under the runtime's lock, but at the end of the process. A module is the image of a library. A device
 * is finalized with its last library, and initialized again with another one. */
void tgt_ompt_initialize(tgt_device_t *device);
void tgt_ompt_finalize(tgt_device_t *device);
void tgt_ompt_load(const tgt_device_t *device, const void *image, size_t bytes, uint64_t module);
void tgt_ompt_unload(const tgt_device_t *device, uint64_t module);

/* ---- constructs ---- */

/* A construct that was told of. It belongs to the thread that began it, until it is taken over. */
typedef struct tgt_told {
  struct tgt_told *outer; /* that the thread has begun and not ended */
  int kind, device;
  const tgt_ident_t *where; /* in the program's text; may be NULL */
  const void *code;         /* the return address into the program */
  uint64_t begin;           /* for the profile; 0: there is none */
  tgt_ompt_data_t *task, *target_task;
  tgt_ompt_data_t data; /* the tool's, or our number */
} tgt_told_t;

/* Of entry points that call others of ours: the next construct of the thread is called from `code`. */
void tgt_ompt_note_caller(const void *code, bool is_nowait);
static inline __attribute__((always_inline)) void tgt_ompt_is_called(bool is_nowait) {
  if (tgt_ompt_is_on())
    tgt_ompt_note_caller(__builtin_return_address(0), is_nowait);
}

/* It is not going to begin on a device. */
void tgt_ompt_forget_caller(void);

/* A construct begins, called from `code` if nothing else was noted. NULL without a tool, or without memory:
 * then the tool is not told. */
tgt_told_t *tgt_ompt_begin_any(tgt_ompt_target_t kind, const tgt_device_t *device, const tgt_ident_t *where,
                               const void *code, bool is_nowait);

static inline tgt_told_t *tgt_ompt_begin(tgt_ompt_target_t kind, const tgt_device_t *device,
                                         const tgt_ident_t *where, const void *code, bool is_nowait) {
  return tgt_ompt_is_on() ? tgt_ompt_begin_any(kind, device, where, code, is_nowait) : NULL;
}

/* The construct that the thread is in; NULL: none, or nobody is told. */
const tgt_told_t *tgt_ompt_here(void);

/* It ends, in the thread that it belongs to. Accepts NULL. */
void tgt_ompt_end(tgt_told_t *told);
/* The thread leaves the construct that it began last, and returns it; another one takes it over. */
tgt_told_t *tgt_ompt_leave(void);
void tgt_ompt_take_over(tgt_told_t *told);

/* A launch within the thread's construct, before and behind it. `id` is the operation's. */
void tgt_ompt_submit(bool begins, uint64_t *id, uint32_t teams);

/* ---- data ---- */

typedef struct tgt_told_data {
  tgt_ompt_operation_t kind;
  const void *from;
  int from_device;
  const void *to;
  int to_device;
  uint64_t bytes;
  const void *code; /* who called; NULL: the thread's construct */
  uint64_t id;      /* the tool's, or our number */
  tgt_ompt_data_t none;
} tgt_told_data_t;

/* An operation begins and ends; both with the same structure, which knows the new address at the end. */
void tgt_ompt_data_begin(tgt_told_data_t *data);
void tgt_ompt_data_end(tgt_told_data_t *data);
/* Of the program's device, or the host where it is NULL. */
int tgt_ompt_number(const tgt_device_t *device);

#endif
