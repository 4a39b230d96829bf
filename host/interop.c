/* Interop objects. */
#include "interop.h"

#include "api.h"
#include "libomp.h"
#include "message.h"
#include "operation.h"

#include "openmp/interop.h"

#include <stdlib.h>

typedef struct callback {
  struct callback *next;
  tgt_interop_callback_t *call;
  void *data;
} callback_t;

struct tgt_interop {
  tgt_interop_t *next;  /* of the runtime's list */
  tgt_device_t *device; /* NULL: there is no such one, or the host */
  int64_t number;
  bool is_implicit; /* it stays */
  int32_t thread;   /* whose it is, if it is implicit */
  bool has_queue;
  hsa_queue_t *queue;
  callback_t *callbacks; /* oldest last; guarded by the list's lock */
};

/* ---- the list ---- */

static void lock(void) {
  pthread_mutex_lock(&tgt_runtime()->interops_lock);
}

static void unlock(void) {
  pthread_mutex_unlock(&tgt_runtime()->interops_lock);
}

/* Where the list leads to an object; to NULL if that is none, or one that is gone. Under the lock. */
static tgt_interop_t **find(const tgt_interop_t *interop) {
  tgt_interop_t **at = &tgt_runtime()->interops;
  while (*at && *at != interop)
    at = &(*at)->next;
  return at;
}

/* Programs may ask for what they have destroyed. There are few objects. */
static bool is_there(const tgt_interop_t *interop) {
  if (!interop)
    return false;
  lock();
  bool found = *find(interop);
  unlock();
  return found;
}

static void add(tgt_interop_t *interop) {
  tgt_runtime_t *runtime = tgt_runtime();
  lock();
  interop->next = runtime->interops;
  runtime->interops = interop;
  unlock();
}

static bool refuse(const char *operation) {
  tgt_error("cannot %s an interop object: it was destroyed, or never made", operation);
  return false;
}

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
  if (!is_there(interop))
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
  const property_t *found = is_there(interop) ? find_property(property) : NULL;
  return found ? found->name : NULL;
}

const char *omp_get_interop_type_desc(const tgt_interop_t *interop, int property) {
  const property_t *found = is_there(interop) ? find_property(property) : NULL;
  return found ? found->type : NULL;
}

/* ---- objects ---- */

/* Its queue is the device's one for all interop objects, and stays. False after a failure, described. */
static bool add_queue(tgt_interop_t *interop) {
  return !atmi_interop_queue(atmi_context(), interop->device->omp, &interop->queue);
}

/* `like`: what the object is to be. It has no device after a failure, described. */
static tgt_interop_t *make(const tgt_interop_t *like) {
  bool failed;
  tgt_interop_t *made = malloc(sizeof *made);
  if (!made) {
    atmi_fail(ATMI_NO_MEMORY, NULL, "cannot make an interop object: out of host memory");
    return NULL;
  }
  *made = *like;
  made->device = tgt_runtime_use(tgt_runtime(), made->number, "make an interop object", &failed);
  if (failed || (made->device && made->has_queue && !add_queue(made)))
    made->device = NULL; /* an object without properties says so when it is asked */
  return made;
}

/* What was put into the object's queue so far has ended. False after a failure, described. */
static bool wait_for_queue(const tgt_interop_t *interop) {
  return !interop->has_queue || !interop->device || tgt_machine_is_ending() ||
         !atmi_interop_wait(interop->device->omp);
}

/* Those of the program, in the order in which they were added: the list that was taken from the object. */
static void call_back(tgt_interop_t *interop, callback_t *callbacks) {
  callback_t *in_order = NULL;
  while (callbacks) {
    callback_t *one = callbacks;
    callbacks = one->next;
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

/* Waits for what the program gave to the object, and says that it is done. */
static bool complete(tgt_interop_t *interop) {
  bool done = wait_for_queue(interop);
  lock();
  callback_t *callbacks = interop->callbacks;
  interop->callbacks = NULL;
  unlock();
  call_back(interop, callbacks);
  return done;
}

static bool use(tgt_interop_t *interop, bool nowait) {
  if (!is_there(interop))
    return refuse("use");
  return nowait || complete(interop); /* the queue has an order of its own */
}

/* Implicit ones are only completed. */
static bool release(tgt_interop_t *interop) {
  if (!is_there(interop))
    return refuse("destroy");
  bool done = complete(interop);
  lock();
  tgt_interop_t **at = find(interop);
  bool goes = *at && !interop->is_implicit;
  if (goes)
    *at = interop->next;
  unlock();
  if (goes)
    free(interop);
  return done;
}

int ompx_interop_add_completion_callback(tgt_interop_t *interop, tgt_interop_callback_t *callback,
                                         void *data) {
  callback_t *made = is_there(interop) && callback ? malloc(sizeof *made) : NULL;
  if (!made)
    return OTHER;
  lock();
  *made = (callback_t){interop->callbacks, callback, data};
  interop->callbacks = made;
  unlock();
  return SUCCESS;
}

/* ---- old entry points ---- */

void __tgt_interop_init(const tgt_ident_t *where, int32_t thread, tgt_interop_t **interop, int32_t kind,
                        int32_t device, int32_t count, void *list, int32_t nowait) {
  (void)thread, (void)nowait;
  const tgt_interop_t like = {.number = tgt_runtime_number(device),
                              .has_queue = kind == TGT_INTEROP_OLD_TARGETSYNC};
  tgt_wait_for_dependences(where, count, list, 0, NULL);
  if (interop && (*interop = make(&like)))
    add(*interop);
}

void __tgt_interop_use(const tgt_ident_t *where, int32_t thread, tgt_interop_t **interop, int32_t device,
                       int32_t count, void *list, int32_t nowait) {
  (void)thread, (void)device;
  tgt_wait_for_dependences(where, count, list, 0, NULL);
  if (interop && *interop)
    (void)use(*interop, nowait);
}

void __tgt_interop_destroy(const tgt_ident_t *where, int32_t thread, tgt_interop_t **interop, int32_t device,
                           int32_t count, void *list, int32_t nowait) {
  (void)thread, (void)device, (void)nowait;
  tgt_wait_for_dependences(where, count, list, 0, NULL);
  if (!interop || !*interop)
    return;
  (void)release(*interop);
  *interop = NULL;
}

/* ---- new entry points ---- */

static bool has_flag(const tgt_interop_context_t *context, uint32_t flag) {
  return context && context->flags & flag;
}

static void wait_for(const tgt_ident_t *where, const tgt_depend_pack_t *depend) {
  if (depend)
    tgt_wait_for_dependences(where, depend->count, depend->list, depend->other_count, depend->other_list);
}

static tgt_interop_t *find_implicit(const tgt_interop_t *like) {
  lock();
  tgt_interop_t *found = tgt_runtime()->interops;
  while (found && (!found->is_implicit || found->number != like->number || found->thread != like->thread ||
                   found->has_queue != like->has_queue))
    found = found->next;
  unlock();
  return found;
}

tgt_interop_t *__tgt_interop_get(const tgt_ident_t *where, int32_t kind, int64_t device,
                                 int32_t preference_count, const void *preferences,
                                 const tgt_interop_context_t *context, const tgt_depend_pack_t *depend) {
  (void)preference_count, (void)preferences; /* there is one foreign runtime, and its queues have an order */
  const tgt_interop_t like = {.number = tgt_runtime_number(device),
                              .is_implicit = has_flag(context, TGT_INTEROP_IMPLICIT),
                              .thread = context ? context->thread : 0,
                              .has_queue = kind == TGT_INTEROP_TARGETSYNC};
  wait_for(where, depend);
  tgt_interop_t *found = like.is_implicit ? find_implicit(&like) : NULL;
  if (found || !(found = make(&like)))
    return found;
  if (!found->device) {
    free(found);
    return NULL;
  }
  add(found);
  return found;
}

int __tgt_interop_use60(const tgt_ident_t *where, tgt_interop_t *interop,
                        const tgt_interop_context_t *context, const tgt_depend_pack_t *depend) {
  if (!interop)
    return TGT_FAILED;
  wait_for(where, depend);
  return use(interop, has_flag(context, TGT_INTEROP_NOWAIT)) ? TGT_DONE : TGT_FAILED;
}

int __tgt_interop_release(const tgt_ident_t *where, tgt_interop_t *interop,
                          const tgt_interop_context_t *context, const tgt_depend_pack_t *depend) {
  (void)context;
  if (!interop)
    return TGT_FAILED;
  wait_for(where, depend);
  return release(interop) ? TGT_DONE : TGT_FAILED;
}

/* The thread's implicit object behind this one; NULL: the first. */
static tgt_interop_t *next_of(int thread, const tgt_interop_t *before) {
  lock();
  tgt_interop_t *at = before ? before->next : tgt_runtime()->interops;
  while (at && !(at->is_implicit && at->thread == thread))
    at = at->next;
  unlock();
  return at;
}

void __tgt_target_sync(const tgt_ident_t *where, int thread, void *task, void *event) {
  (void)where, (void)task, (void)event;
  /* Implicit objects stay, and so does their order; others between them may go. */
  for (tgt_interop_t *at = next_of(thread, NULL); at; at = next_of(thread, at))
    (void)complete(at);
}
