/* The thread that serves device code while kernels run: mailboxes of images (services/rpc_image) and of
 * queues (services/hostcall). There is one per machine, made when the first kernel that needs it is launched.
 * While no such kernel runs it sleeps on a condition variable. While one runs it looks at the mailboxes, and
 * the longer nothing comes, the more rarely: device code of these protocols rings no bell. From 20
 * microseconds between two looks it goes up to 8 milliseconds, the longest that a request after a long
 * silence waits. */
#ifndef ATMI_BASE_SERVICE_H
#define ATMI_BASE_SERVICE_H

#include "base/status.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* The thread's name, as top -H and debuggers show it. */
#define ATMI_SERVICE_THREAD "amdgpu-service"

/* Something to look at. The owner keeps it until atmi_service_remove. */
typedef struct atmi_service_client {
  struct atmi_service_client *next;
  bool (*poll)(void *object);   /* true if there was work */
  void (*settle)(void *object); /* after the last work of a kernel; may be NULL */
  void *object;
} atmi_service_client_t;

typedef struct atmi_service {
  pthread_mutex_t polling; /* guards the clients: one thread at a time looks at them */
  atmi_service_client_t *clients;
  pthread_mutex_t lock; /* guards what follows */
  pthread_cond_t wake;
  bool started, stopping;
  pthread_t thread;
  _Atomic uint64_t running; /* kernels that may call */
} atmi_service_t;

void atmi_service_init(atmi_service_t *service);
/* Ends the thread. Its clients must be gone, or nobody may call any more. From the thread itself (device code
 * has called exit) it does nothing. */
void atmi_service_fini(atmi_service_t *service);

void atmi_service_add(atmi_service_t *service, atmi_service_client_t *client);
/* Waits until nobody looks at the client any more. Accepts one that was never added. */
void atmi_service_remove(atmi_service_t *service, atmi_service_client_t *client);

/* A kernel that may call is about to be launched. Fails with ATMI_NO_MEMORY, described, if there is no
 * thread. */
ATMI_MUST_CHECK atmi_status_t atmi_service_begin(atmi_service_t *service, const char *where);
/* `count` of them are complete, and what they have asked for is done when this returns. */
void atmi_service_end(atmi_service_t *service, uint64_t count);

#endif
