/* The device's end of the mailbox protocol. */
#include "rpc_client.h"

/* The object that the plugin fills in, and the variable by which it finds it. Every translation unit that the
 * compiler links this library into has a copy; they are weak, so one of them is left. */
__attribute__((weak, visibility("protected")))
atmi_rpc_client_t omptarget_amdgpu_rpc_client = {.port_count = 0};
__attribute__((weak, used, visibility("protected"))) void *__llvm_libc_rpc_client =
    &omptarget_amdgpu_rpc_client;

/* In an image whose code calls its host this variable is left, in others it is not: so the plugin knows
 * whether an image needs a server. */
static volatile char omptarget_amdgpu_calls_host;

static uint32_t lane_number(void) {
  return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
}

static bool is_first(uint64_t mask) {
  return lane_number() == (uint32_t)__builtin_ctzll(mask);
}

uint64_t rpc_ballot(bool condition) {
  enum { NOT_EQUAL = 33 }; /* LLVM's number of the comparison */
  return __builtin_amdgcn_uicmp((uint32_t)condition, 0, NOT_EQUAL);
}

/* Memory of the host: everything has system scope. */
static void fence_acquire(void) {
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "");
}

static void fence_release(void) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "");
}

static uint32_t load(uint64_t mailboxes, uint32_t index) {
  return __atomic_load_n((uint32_t *)(uintptr_t)mailboxes + index, __ATOMIC_RELAXED);
}

static char *packet_of(const rpc_port_t *port) {
  return (char *)(uintptr_t)port->client->packets +
         port->index * atmi_rpc_packet_bytes(__AMDGCN_WAVEFRONT_SIZE);
}

static uint64_t *slot_of(const rpc_port_t *port) {
  return (uint64_t *)(void *)(packet_of(port) + sizeof(atmi_rpc_header_t) +
                              lane_number() * (size_t)ATMI_RPC_SLOT_BYTES);
}

/* One lane tries for the wave. */
static bool try_lock(atmi_rpc_client_t *client, uint32_t index, uint64_t mask) {
  uint32_t bit = 1u << index % 32, held = 0;
  if (is_first(mask))
    held = __atomic_fetch_or(&client->locks[index / 32], bit, __ATOMIC_RELAXED) & bit;
  bool mine = !__builtin_amdgcn_readfirstlane((int)held);
  fence_acquire();
  return mine;
}

static void unlock(const rpc_port_t *port) {
  fence_release();
  if (is_first(port->mask))
    __atomic_fetch_and((uint32_t *)(uintptr_t)&port->client->locks[port->index / 32],
                       ~(1u << port->index % 32), __ATOMIC_RELAXED);
}

/* OpenMPOpt of clang 19 removes the object and its pointer when only the pointer uses it, as if nobody
 * called. */
static void keep_client(void) {
#if RUNTIME >= 17
  typedef __attribute__((address_space(1))) atmi_rpc_client_t global_client_t;
  __asm__ volatile("" : : "s"((global_client_t *)&omptarget_amdgpu_rpc_client));
#endif
}

rpc_port_t rpc_open(uint16_t opcode) {
  (void)omptarget_amdgpu_calls_host;
  keep_client();
  /* Volatile: as far as the compiler knows, nobody ever changes the variable. */
  atmi_rpc_client_t *client = *(void *volatile *)&__llvm_libc_rpc_client;
  uint32_t ports = *(volatile uint32_t *)&client->port_count;
  rpc_port_t port = {.client = client, .mask = rpc_ballot(true)};
  for (uint32_t i = 0;; i = i + 1 < ports ? i + 1 : 0) {
    if (!i)
      __builtin_amdgcn_s_sleep(1);
    port.index = i;
    if (!try_lock(client, i, port.mask))
      continue;
    port.out = load(client->outbox, i);
    if (load(client->inbox, i) == port.out)
      break;
    unlock(&port); /* the server is still busy with the last call */
  }
  if (is_first(port.mask)) {
    atmi_rpc_header_t *header = (atmi_rpc_header_t *)(void *)packet_of(&port);
    header->mask = port.mask;
    header->opcode = opcode;
  }
  return port;
}

void rpc_close(rpc_port_t *port) {
  unlock(port);
}

static void wait_until_ours(const rpc_port_t *port) {
  while (load(port->client->inbox, port->index) != port->out)
    __builtin_amdgcn_s_sleep(1);
  fence_acquire();
}

static void give_away(rpc_port_t *port) {
  port->out ^= 1;
  fence_release();
  __atomic_store_n((uint32_t *)(uintptr_t)port->client->outbox + port->index, port->out, __ATOMIC_RELAXED);
}

uint64_t *rpc_send_begin(rpc_port_t *port) {
  wait_until_ours(port);
  port->received = false;
  return slot_of(port);
}

void rpc_send_end(rpc_port_t *port) {
  give_away(port);
}

const uint64_t *rpc_receive(rpc_port_t *port) {
  if (port->received)
    give_away(port);
  wait_until_ours(port);
  port->received = true;
  return slot_of(port);
}

uint64_t rpc_ask(uint16_t opcode, uint64_t word) {
  rpc_port_t port = rpc_open(opcode);
  rpc_send_begin(&port)[0] = word;
  rpc_send_end(&port);
  uint64_t answer = rpc_receive(&port)[0];
  rpc_close(&port);
  return answer;
}
