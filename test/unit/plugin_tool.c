/* A tool as profilers are: ROCr loads it (HSA_TOOLS_LIB), and every queue's packets pass through it, as with
 * rocprof. It hands them on as they are, but each behind a barrier packet of its own, so that the indices of
 * the queue that the program knows are not those of the one that the device reads. Its queues are long. */
#include <hsa/hsa.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

/* hsa_api_trace.h, which is C++, as tables of words: a version of two of them, and functions. Their places
 * never change. */
enum {
  ROOT_CORE = 2,
  ROOT_AMD = 3,
  CORE_QUEUE_CREATE = 9,
  AMD_INTERCEPT_CREATE = 37,
  AMD_INTERCEPT_REGISTER = 38
};

typedef void (*writer_t)(const void *packets, uint64_t count);
typedef void (*handler_t)(const void *packets, uint64_t count, uint64_t index, void *data, writer_t writer);
typedef hsa_status_t (*create_t)(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
                                 void (*callback)(hsa_status_t, hsa_queue_t *, void *), void *data,
                                 uint32_t private_bytes, uint32_t group_bytes, hsa_queue_t **queue);
typedef hsa_status_t (*register_t)(hsa_queue_t *queue, handler_t handler, void *data);

static create_t create_intercepted;
static register_t register_handler;

typedef struct packet {
  uint16_t header;
  uint8_t rest[62];
} packet_t;

static void pass_on(const void *packets, uint64_t count, uint64_t index, void *data, writer_t writer) {
  (void)index;
  (void)data;
  for (uint64_t i = 0; i < count; i++) {
    packet_t both[2] = {{.header = HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE}};
    memcpy(&both[1], (const packet_t *)packets + i, sizeof both[1]);
    writer(both, 2);
  }
}

static hsa_status_t create_queue(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
                                 void (*callback)(hsa_status_t, hsa_queue_t *, void *), void *data,
                                 uint32_t private_bytes, uint32_t group_bytes, hsa_queue_t **queue) {
  enum { LONG = 1 << 16 };
  (void)size;
  hsa_status_t status =
      create_intercepted(agent, LONG, type, callback, data, private_bytes, group_bytes, queue);
  return status ? status : register_handler(*queue, pass_on, NULL);
}

EXPORT bool OnLoad(void **root, uint64_t version, uint64_t failed_count, const char *const *failed);
bool OnLoad(void **root, uint64_t version, uint64_t failed_count, const char *const *failed) {
  void **core = root[ROOT_CORE], **amd = root[ROOT_AMD];
  create_t create = create_queue;
  (void)version;
  (void)failed_count;
  (void)failed;
  memcpy(&create_intercepted, &amd[AMD_INTERCEPT_CREATE], sizeof create_intercepted);
  memcpy(&register_handler, &amd[AMD_INTERCEPT_REGISTER], sizeof register_handler);
  memcpy(&core[CORE_QUEUE_CREATE], &create, sizeof create);
  return true;
}

EXPORT void OnUnload(void);
void OnUnload(void) {}
