/* Interop objects. */
#include "interop.h"

#include "libomp.h"
#include "operation.h"

#include "openmp/interop.h"

#include <stdlib.h>

typedef struct callback {
  struct callback *next;
  tgt_interop_callback_t *call;
  void *data;
} callback_t;

struct tgt_interop {
  tgt_interop_t *next;  /* of implicit ones */
  tgt_device_t *device; /* NULL: there is no such one, or the host */
  int64_t number;
  int32_t thread; /* of an implicit one: whose it is */
  bool has_queue;
  hsa_queue_t *queue;
  callback_t *callbacks; /* oldest last */
};

/* ---- properties ---- */

/* Results of the API. */
enum {
  NO_VALUE = 1,
  SUCCESS = 0,
  EMPTY = -1,
  OUT_OF_RANGE = -2,
  TYPE_INT = -3, /* it is an int: another function was asked for it */
  TYPE_PTR = -4,
  TYPE_STR = -5,
  OTHER = -6,
};

/* OpenMP's numbers of what we are, from its additional definitions. */
enum { RUNTIME_HSA = 7, VENDOR_AMD = 1 };

typedef enum kind { INT = TYPE_INT, PTR = TYPE_PTR, STR = TYPE_STR } kind_t;

typedef struct property {
  const char *name, *type;
  kind_t kind;
} property_t;

/* By number, which is negative. */
static const property_t properties[] = {
    [1] = {"fr_id", "intptr_t, which represents a foreign runtime id of interop", INT},
    [2] = {"fr_name", "C string value that represents the foreign runtime name of interop", STR},
    [3] = {"vendor", "intptr_t, which represents the vendor of interop", INT},
    [4] = {"vendor_name", "C string value that represents the vendor of interop", STR},
    [5] = {"device_num", "intptr_t, which represents the OpenMP device number of interop", INT},
    [6] = {"platform", "void *, the platform", PTR},
    [7] = {"device", "hsa_agent_t *, whose handle it is", PTR},
    [8] = {"device_context", "void *, the context", PTR},
    [9] = {"targetsync", "hsa_queue_t *, a queue of the device", PTR},
};
enum { PROPERTIES = sizeof properties / sizeof *properties };

static const property_t *find_property(int number) {
  return number < 0 && number > -PROPERTIES ? &properties[-number] : NULL;
}

/* Whether the object has such a property; if not, why. */
static int check(const tgt_interop_t *interop, int number, kind_t kind) {
  const property_t *property = find_property(number);
  if (!property)
    return OUT_OF_RANGE;
  if (!interop)
    return EMPTY;
  if (property->kind != kind)
    return (int)property->kind;
  return interop->device || number == -5 ? SUCCESS : NO_VALUE;
}

static void tell(int *result, int value) {
  if (result)
    *result = value;
}

intptr_t omp_get_interop_int(const tgt_interop_t *interop, int property, int *result) {
  int status = check(interop, property, INT);
  tell(result, status);
  if (status)
    return 0;
  return property == -1 ? RUNTIME_HSA : property == -3 ? VENDOR_AMD : (intptr_t)interop->number;
}

void *omp_get_interop_ptr(const tgt_interop_t *interop, int property, int *result) {
  int status = check(interop, property, PTR);
  void *value = NULL;
  if (!status && property == -7)
    value = (void *)(uintptr_t)interop->device->core->agent.handle;
  if (!status && property == -9)
    value = interop->queue;
  tell(result, status || value ? status : NO_VALUE);
  return value;
}

const char *omp_get_interop_str(const tgt_interop_t *interop, int property, int *result) {
  int status = check(interop, property, STR);
  tell(result, status);
  return status ? NULL : property == -2 ? "hsa" : "amd";
}

const char *omp_get_interop_name(const tgt_interop_t *interop, int property) {
  const property_t *found = interop ? find_property(property) : NULL;
  return found ? found->name : NULL;
}

const char *omp_get_interop_type_desc(const tgt_interop_t *interop, int property) {
  const property_t *found = interop ? find_property(property) : NULL;
  return found ? found->type : NULL;
}

/* ---- objects ---- */

/* Its queue is the device's one for all interop objects, and stays. False after a failure, described. */
static bool add_queue(tgt_interop_t *interop) {
  return !atmi_interop_queue(atmi_context(), interop->device->omp, &interop->queue);
}

static tgt_interop_t *make(int64_t number, bool has_queue) {
  bool failed;
  tgt_interop_t *made = calloc(1, sizeof *made);
  if (!made) {
    atmi_fail(ATMI_NO_MEMORY, NULL, "cannot make an interop object: out of host memory");
    return NULL;
  }
  made->number = tgt_runtime_number(number);
  made->has_queue = has_queue;
  made->device = tgt_runtime_use(tgt_runtime(), made->number, "make an interop object", &failed);
  if (failed || (made->device && has_queue && !add_queue(made)))
    made->device = NULL; /* an object without properties says so when it is asked */
  return made;
}

/* Those of the program, in the order in which they were added. */
static void call_back(tgt_interop_t *interop) {
  callback_t *in_order = NULL;
  while (interop->callbacks) {
    callback_t *one = interop->callbacks;
    interop->callbacks = one->next;
    one->next = in_order;
    in_order = one;
  }
  while (in_order) {
    callback_t *one = in_order;
    in_order = one->next;
    one->call(interop, one->data);
    free(one);
  }
}

static void destroy(tgt_interop_t *interop) {
  if (!interop)
    return;
  call_back(interop);
  free(interop);
}

int ompx_interop_add_completion_callback(tgt_interop_t *interop, tgt_interop_callback_t *callback,
                                         void *data) {
  callback_t *made = interop && callback ? malloc(sizeof *made) : NULL;
  if (!made)
    return OTHER;
  *made = (callback_t){interop->callbacks, callback, data};
  interop->callbacks = made;
  return SUCCESS;
}

/* ---- old entry points ---- */

void __tgt_interop_init(const tgt_ident_t *where, int32_t thread, tgt_interop_t **interop, int32_t kind,
                        int32_t device, int32_t count, void *list, int32_t nowait) {
  (void)thread, (void)nowait;
  tgt_wait_for_dependences(where, count, list, 0, NULL);
  *interop = make(device, kind == TGT_INTEROP_OLD_TARGETSYNC);
}

void __tgt_interop_use(const tgt_ident_t *where, int32_t thread, tgt_interop_t **interop, int32_t device,
                       int32_t count, void *list, int32_t nowait) {
  (void)thread, (void)device, (void)nowait;
  tgt_wait_for_dependences(where, count, list, 0, NULL);
  if (*interop)
    call_back(*interop);
}

void __tgt_interop_destroy(const tgt_ident_t *where, int32_t thread, tgt_interop_t **interop, int32_t device,
                           int32_t count, void *list, int32_t nowait) {
  __tgt_interop_use(where, thread, interop, device, count, list, nowait);
  destroy(*interop);
  *interop = NULL;
}

/* ---- new entry points ---- */

static void wait_for(const tgt_ident_t *where, const tgt_depend_pack_t *depend) {
  if (depend)
    tgt_wait_for_dependences(where, depend->count, depend->list, depend->other_count, depend->other_list);
}

/* The thread's object for the device; made the first time. */
static tgt_interop_t *get_implicit(int64_t number, bool has_queue, int32_t thread) {
  tgt_runtime_t *runtime = tgt_runtime();
  number = tgt_runtime_number(number);
  pthread_mutex_lock(&runtime->interops_lock);
  tgt_interop_t *found = runtime->interops;
  while (found && (found->number != number || found->thread != thread || found->has_queue != has_queue))
    found = found->next;
  pthread_mutex_unlock(&runtime->interops_lock);
  if (found || !(found = make(number, has_queue)))
    return found;
  found->thread = thread;
  pthread_mutex_lock(&runtime->interops_lock);
  found->next = runtime->interops;
  runtime->interops = found;
  pthread_mutex_unlock(&runtime->interops_lock);
  return found;
}

tgt_interop_t *__tgt_interop_get(const tgt_ident_t *where, int32_t kind, int64_t device,
                                 int32_t preference_count, const void *preferences,
                                 const tgt_interop_context_t *context, const tgt_depend_pack_t *depend) {
  (void)preference_count, (void)preferences; /* there is one foreign runtime, and its queues have an order */
  wait_for(where, depend);
  bool has_queue = kind == TGT_INTEROP_TARGETSYNC;
  if (context && context->flags & TGT_INTEROP_IMPLICIT)
    return get_implicit(device, has_queue, context->thread);
  return make(device, has_queue);
}

int __tgt_interop_use60(const tgt_ident_t *where, tgt_interop_t *interop,
                        const tgt_interop_context_t *context, const tgt_depend_pack_t *depend) {
  (void)context;
  if (!interop)
    return OTHER;
  wait_for(where, depend);
  call_back(interop);
  return SUCCESS;
}

int __tgt_interop_release(const tgt_ident_t *where, tgt_interop_t *interop,
                          const tgt_interop_context_t *context, const tgt_depend_pack_t *depend) {
  int status = __tgt_interop_use60(where, interop, context, depend);
  destroy(interop);
  return status;
}

void __tgt_target_sync(const tgt_ident_t *where, int thread, void *task, void *event) {
  (void)where, (void)task, (void)event;
  tgt_runtime_t *runtime = tgt_runtime();
  pthread_mutex_lock(&runtime->interops_lock);
  tgt_interop_t *first = runtime->interops;
  pthread_mutex_unlock(&runtime->interops_lock);
  /* Objects are never taken out of the list, and those of a thread only it uses. */
  for (tgt_interop_t *at = first; at; at = at->next)
    if (at->thread == thread)
      call_back(at);
}
