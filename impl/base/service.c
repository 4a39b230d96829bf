/* The service thread: when it looks, and when it sleeps. */
#include "base/service.h"

#include <sched.h>
#include <signal.h>
#include <time.h>

enum { EAGER_LOOKS = 16, SHORTEST_NS = 20000, LONGEST_NS = 8000000 };

void atmi_service_init(atmi_service_t *service) {
  *service = (atmi_service_t){0};
  pthread_mutex_init(&service->lock, NULL);
  pthread_mutex_init(&service->polling, NULL);
  pthread_cond_init(&service->wake, NULL);
}

static bool look(atmi_service_t *service) {
  bool worked = false;
  pthread_mutex_lock(&service->polling);
  for (atmi_service_client_t *client = service->clients; client; client = client->next)
    worked = client->poll(client->object) || worked;
  pthread_mutex_unlock(&service->polling);
  return worked;
}

/* Sleeps until there is a kernel to serve; false at the end. */
static bool wait_for_kernels(atmi_service_t *service) {
  pthread_mutex_lock(&service->lock);
  while (!service->stopping && !atomic_load_explicit(&service->running, memory_order_relaxed))
    pthread_cond_wait(&service->wake, &service->lock);
  bool goes_on = !service->stopping;
  pthread_mutex_unlock(&service->lock);
  return goes_on;
}

/* After `idle` looks in a row that found nothing. */
static void pause_after(unsigned idle) {
  if (idle < EAGER_LOOKS) {
    sched_yield();
    return;
  }
  long nanoseconds = SHORTEST_NS;
  /* Grows by a half every eight looks. */
  for (unsigned i = EAGER_LOOKS; i < idle && nanoseconds < LONGEST_NS; i += 8)
    nanoseconds += nanoseconds / 2;
  nanosleep(&(struct timespec){.tv_nsec = nanoseconds < LONGEST_NS ? nanoseconds : LONGEST_NS}, NULL);
}

static void *serve(void *data) {
  atmi_service_t *service = data;
  while (wait_for_kernels(service)) {
    unsigned idle = 0;
    while (atomic_load_explicit(&service->running, memory_order_acquire)) {
      idle = look(service) ? 0 : idle + 1;
      if (idle)
        pause_after(idle);
    }
  }
  return NULL;
}

void atmi_service_fini(atmi_service_t *service) {
  if (service->started && pthread_equal(service->thread, pthread_self()))
    return;
  if (service->started) {
    pthread_mutex_lock(&service->lock);
    service->stopping = true;
    atomic_store_explicit(&service->running, 0, memory_order_relaxed);
    pthread_cond_signal(&service->wake);
    pthread_mutex_unlock(&service->lock);
    pthread_join(service->thread, NULL);
  }
  pthread_cond_destroy(&service->wake);
  pthread_mutex_destroy(&service->polling);
  pthread_mutex_destroy(&service->lock);
  *service = (atmi_service_t){0};
}

void atmi_service_add(atmi_service_t *service, atmi_service_client_t *client) {
  pthread_mutex_lock(&service->polling);
  client->next = service->clients;
  service->clients = client;
  pthread_mutex_unlock(&service->polling);
}

void atmi_service_remove(atmi_service_t *service, atmi_service_client_t *client) {
  pthread_mutex_lock(&service->polling);
  for (atmi_service_client_t **at = &service->clients; *at; at = &(*at)->next) {
    if (*at != client)
      continue;
    *at = client->next;
    break;
  }
  pthread_mutex_unlock(&service->polling);
}

/* The program's signals are not for this thread. */
static int start_thread(atmi_service_t *service) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int error = pthread_create(&service->thread, NULL, serve, service);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (!error)
    pthread_setname_np(service->thread, ATMI_SERVICE_THREAD);
  return error;
}

atmi_status_t atmi_service_begin(atmi_service_t *service, const char *where) {
  if (atomic_fetch_add_explicit(&service->running, 1, memory_order_acq_rel))
    return ATMI_OK;
  pthread_mutex_lock(&service->lock);
  if (!service->started)
    service->started = !start_thread(service);
  bool started = service->started;
  pthread_cond_signal(&service->wake);
  pthread_mutex_unlock(&service->lock);
  if (started)
    return ATMI_OK;
  atomic_fetch_sub_explicit(&service->running, 1, memory_order_relaxed);
  return atmi_fail(ATMI_NO_MEMORY, where, "cannot serve requests of device code: the system gives no thread");
}

void atmi_service_end(atmi_service_t *service, uint64_t count) {
  /* The kernels are complete: their last calls, at most one in each port, are there, and one look serves
   * them. */
  look(service);
  pthread_mutex_lock(&service->polling);
  for (atmi_service_client_t *client = service->clients; client; client = client->next)
    if (client->settle)
      client->settle(client->object);
  pthread_mutex_unlock(&service->polling);
  atomic_fetch_sub_explicit(&service->running, count, memory_order_release);
}
