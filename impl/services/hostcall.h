/* The older way of device code to call its host: ROCm's hostcall, as the device library "ockl" (5.x) speaks
 * it. Each queue whose kernels ask for it has a buffer with a packet for every wave that the device can hold.
 * Facts: ROCm-Device-Libs 5.2, ockl/src/hostcall.cl and its printf; HIP's listener. This file needs no
 * device: the buffer is memory. Not here: which kernels want it (atmi_code_object, atmi_stream). */
#ifndef ATMI_SERVICES_HOSTCALL_H
#define ATMI_SERVICES_HOSTCALL_H

#include "services/rpc_server.h"

/* What a kernel's hidden argument points to. */
typedef struct atmi_hostcall_buffer {
  uint64_t headers;  /* address of atmi_hostcall_header_t[] */
  uint64_t payloads; /* address of 64 lanes of eight words for each header */
  uint64_t doorbell; /* handle of a signal that the device increments */
  _Atomic uint64_t free_stack, ready_stack;
  uint64_t index_mask;
  uint64_t reserved;
} atmi_hostcall_buffer_t;

typedef struct atmi_hostcall_header {
  uint64_t next; /* in its stack */
  uint64_t active_mask;
  uint32_t service;
  _Atomic uint32_t control; /* bit 0: the packet waits for its answer */
} atmi_hostcall_header_t;

/* Messages that arrive in pieces, among them those of printf. */
typedef struct atmi_hostcall_messages {
  struct atmi_hostcall_message *list;
  uint32_t count;
  uint64_t words; /* in all of them */
} atmi_hostcall_messages_t;

typedef struct atmi_hostcall {
  const char *where; /* for messages */
  atmi_hostcall_buffer_t *buffer;
  uint32_t packets;
  atmi_rpc_host_t host;
  atmi_hostcall_messages_t messages;
  uint32_t reported; /* kinds of bad requests that were described already */
  bool wrote;        /* to a standard stream since the last flush */
} atmi_hostcall_t;

/* Bytes of a buffer for so many packets, with headers and payloads. */
size_t atmi_hostcall_bytes(uint32_t packets);

/* Prepares `memory` of that many bytes, zeroed, which the device sees at the same address. `packets` is 2 at
 * least. */
void atmi_hostcall_init(const char *where, void *memory, uint32_t packets, uint64_t doorbell,
                        const atmi_rpc_host_t *host, atmi_hostcall_t *hostcall);
void atmi_hostcall_fini(atmi_hostcall_t *hostcall);

/* Answers what is waiting. True if there was anything. By one thread at a time. */
bool atmi_hostcall_poll(atmi_hostcall_t *hostcall);
/* Makes visible what was printed. */
void atmi_hostcall_flush(atmi_hostcall_t *hostcall);

#endif
