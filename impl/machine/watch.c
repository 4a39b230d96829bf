/* Asking devices for signs of life. */
#include "machine/watch.h"

#include "base/condition.h"
#include "base/hsa.h"
#include "device/signal_pool.h"
#include "machine/fault.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

enum { PERIOD_MS = 500, QUEUE_PACKETS = 64 };

struct atmi_watch {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  pthread_t thread;
  bool running; /* there is a thread to join; guarded by lock, as is the next */
  bool ending;
  const char *why; /* faults are not seen; for the message about a device that does not answer */
};

/* How one device is asked. */
typedef struct probe {
  bool ready, failed;
  atmi_queue_t queue;
  hsa_signal_t answer; /* 0 once the packet was taken */
  uint64_t asked_ms;   /* 0: no question is open */
} probe_t;

static uint64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Whether an operation on the device is not complete. */
static bool has_work(atmi_device_t *device) {
  atmi_pool_t *signals = &device->signals.pool;
  uint32_t count = atmi_pool_count(signals);
  for (uint32_t i = 0; i < count; i++)
    if (atmi_signal_query(atmi_pool_at(signals, i)) == ATMI_PENDING)
      return true;
  return false;
}

static bool make_ready(atmi_device_t *device, probe_t *probe) {
  if (probe->ready)
    return true;
  if (atmi_queue_init(&device->queue_owner, QUEUE_PACKETS, &probe->queue))
    return false;
  if (hsa_signal_create(0, 0, NULL, &probe->answer) == HSA_STATUS_SUCCESS)
    return probe->ready = true;
  atmi_queue_fini(&probe->queue);
  return false;
}

static void discard(probe_t *probe) {
  if (!probe->ready)
    return;
  atmi_queue_fini(&probe->queue);
  hsa_signal_destroy(probe->answer);
}

/* Publishes a packet that waits for nothing. */
static void ask(atmi_device_t *device, probe_t *probe) {
  uint64_t index;
  if (!make_ready(device, probe) || atmi_queue_claim(&probe->queue, &index)) {
    probe->failed = true;
    atmi_warn(device->label,
              "a later memory fault may go unnoticed, and what waits for the device may wait for "
              "ever: it cannot be asked whether it still works");
    return;
  }
  atmi_queue_t *queue = &probe->queue;
  hsa_barrier_and_packet_t *packet = atmi_queue_slot(queue, index);
  hsa_signal_store_screlease(probe->answer, 1);
  atmi_packet_fill_barrier(NULL, 0, probe->answer, packet);
  atmi_queue_note(queue, index, NULL, NULL);
  atmi_queue_publish(queue, index, packet, atmi_packet_header(HSA_PACKET_TYPE_BARRIER_AND, false, 0));
  probe->asked_ms = now_ms();
}

static void look_after(atmi_device_t *device, probe_t *probe) {
  uint64_t patience_ms = (uint64_t)device->machine->env->fault_patience_s * 1000;
  if (probe->failed || atmi_device_is_lost(device))
    return;
  if (!probe->asked_ms) {
    if (has_work(device))
      ask(device, probe);
  } else if (!hsa_signal_load_relaxed(probe->answer)) {
    probe->asked_ms = 0;
  } else if (now_ms() - probe->asked_ms > patience_ms) {
    atmi_fault_report_silence(device);
  }
}

/* Sleeps until the next round; false if there is none. */
static bool sleep_for_a_period(atmi_watch_t *watch) {
  struct timespec until = atmi_condition_deadline(PERIOD_MS);
  pthread_mutex_lock(&watch->lock);
  if (!watch->ending)
    pthread_cond_timedwait(&watch->changed, &watch->lock, &until);
  bool ending = watch->ending;
  pthread_mutex_unlock(&watch->lock);
  return !ending;
}

static void *watch_main(void *data) {
  atmi_machine_t *machine = data;
  probe_t *probes = calloc(machine->device_count, sizeof *probes);
  while (probes && sleep_for_a_period(machine->watch))
    for (uint32_t i = 0; i < machine->device_count; i++)
      look_after(machine->devices[i], &probes[i]);
  for (uint32_t i = 0; probes && i < machine->device_count; i++)
    discard(&probes[i]);
  free(probes);
  return NULL;
}

/* A thread that takes none of the program's signals. */
static bool start_thread(atmi_machine_t *machine) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int error = pthread_create(&machine->watch->thread, NULL, watch_main, machine);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return !error;
}

atmi_watch_t *atmi_watch_create(void) {
  atmi_watch_t *watch = calloc(1, sizeof *watch);
  if (!watch)
    return NULL;
  if (atmi_condition_init(&watch->changed)) {
    pthread_mutex_init(&watch->lock, NULL);
    return watch;
  }
  free(watch);
  return NULL;
}

void atmi_watch_destroy(atmi_watch_t *watch) {
  if (!watch)
    return;
  pthread_mutex_destroy(&watch->lock);
  pthread_cond_destroy(&watch->changed);
  free(watch);
}

const char *atmi_watch_reason(const atmi_machine_t *machine) {
  return machine->watch->why;
}

void atmi_watch_begin(atmi_machine_t *machine, const char *why) {
  atmi_watch_t *watch = machine->watch;
  if (!machine->env->fault_patience_s)
    return;
  pthread_mutex_lock(&watch->lock);
  if (!watch->running && !watch->ending) {
    watch->why = why;
    watch->running = start_thread(machine);
    if (!watch->running)
      atmi_warn(NULL,
                "later memory faults may go unnoticed, and what waits for a device may wait for ever: no "
                "thread can be created to watch the devices");
  }
  pthread_mutex_unlock(&watch->lock);
}

void atmi_watch_end(atmi_machine_t *machine) {
  atmi_watch_t *watch = machine->watch;
  if (!watch)
    return;
  pthread_mutex_lock(&watch->lock);
  bool running = watch->running;
  watch->running = false;
  watch->ending = true;
  pthread_cond_signal(&watch->changed);
  pthread_mutex_unlock(&watch->lock);
  if (running)
    pthread_join(watch->thread, NULL);
}
