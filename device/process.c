/* Memory and the end of the process. */
#include "services.h"

#include "rpc_client.h"

enum { EXIT = 1, MALLOC = 10, FREE = 11, ABORT = 13 };

void *malloc(size_t bytes) {
  return (void *)(uintptr_t)rpc_ask(MALLOC, bytes);
}

void *calloc(size_t count, size_t bytes) {
  size_t all;
  if (__builtin_mul_overflow(count, bytes, &all))
    return NULL;
  void *memory = malloc(all);
  if (memory)
    memset(memory, 0, all);
  return memory;
}

void free(void *memory) {
  rpc_port_t port = rpc_open(FREE);
  rpc_send_begin(&port)[0] = (uint64_t)(uintptr_t)memory;
  rpc_send_end(&port);
  rpc_close(&port);
}

/* The first exchange makes sure that the host listens; after the second nobody waits for an answer. */
static _Noreturn void end(uint16_t opcode, uint64_t word) {
  rpc_port_t port = rpc_open(opcode);
  rpc_send_begin(&port)[0] = 0;
  rpc_send_end(&port);
  rpc_receive(&port);
  rpc_send_begin(&port)[0] = word;
  rpc_send_end(&port);
  __asm__ volatile("s_endpgm");
  __builtin_unreachable();
}

_Noreturn void exit(int status) {
  end(EXIT, (uint32_t)status);
}

_Noreturn void abort(void) {
  end(ABORT, 0);
}
