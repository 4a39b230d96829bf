/* The RPC server: ports as state machines. What each opcode does is in services/rpc_operations.c. */
#include "services/rpc_server.h"
#include "services/rpc_print.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
  STRING_LIMIT = 1 << 30,   /* bytes of one lane's string */
  STORED_LIMIT = INT32_MAX, /* bytes of all strings that are in the air */
  KEPT_BYTES = 4096,        /* a lane's buffer up to this size stays for the next call */
  REPORT_BYTES = 512
};

/* ---- bad requests ---- */

void atmi_rpc_report(atmi_rpc_server_t *server, atmi_rpc_offence_t offence, const char *format, ...) {
  if (server->reported & 1u << offence)
    return;
  server->reported |= 1u << offence;
  char text[REPORT_BYTES];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  atmi_warn(server->where, "device code asks its host for something impossible: %s", text);
}

static bool refuse(atmi_rpc_server_t *server, atmi_rpc_lane_t *lane) {
  atmi_rpc_report(server, ATMI_RPC_BAD_SIZE, "a string of %llu bytes, more than can be had",
                  (unsigned long long)lane->size);
  lane->refused = true;
  return false;
}

bool atmi_rpc_reserve(atmi_rpc_server_t *server, atmi_rpc_lane_t *lane, uint64_t bytes) {
  if (bytes <= lane->capacity)
    return true;
  uint64_t larger = lane->capacity ? lane->capacity : 64;
  while (larger < bytes && larger < STRING_LIMIT)
    larger *= 2;
  if (larger < bytes || server->stored_bytes + (larger - lane->capacity) > STORED_LIMIT)
    return refuse(server, lane);
  unsigned char *longer = realloc(lane->bytes, (size_t)larger);
  if (!longer)
    return refuse(server, lane);
  server->stored_bytes += larger - lane->capacity;
  lane->bytes = longer;
  lane->capacity = larger;
  return true;
}

static void release_bytes(atmi_rpc_server_t *server, atmi_rpc_lane_t *lane) {
  server->stored_bytes -= lane->capacity;
  free(lane->bytes);
  lane->bytes = NULL;
  lane->capacity = 0;
}

/* ---- ports ---- */

static char *header_of(const atmi_rpc_server_t *server, const atmi_rpc_port_t *port) {
  return server->headers + (size_t)(port - server->ports) * server->header_stride;
}

static char *slot_of(const atmi_rpc_server_t *server, const atmi_rpc_port_t *port, uint32_t lane) {
  return server->slots + (size_t)(port - server->ports) * server->slot_stride +
         (size_t)lane * ATMI_RPC_SLOT_BYTES;
}

static uint32_t opcode_of(const atmi_rpc_server_t *server, const atmi_rpc_port_t *port) {
  const void *header = header_of(server, port);
  if (server->version == ATMI_RPC_LLVM20)
    return *(const volatile uint32_t *)&((const atmi_rpc_header20_t *)header)->opcode;
  return *(const volatile uint16_t *)&((const atmi_rpc_header_t *)header)->opcode;
}

/* Whether the packet is ours. Acquire: what the device wrote before it gave the packet away is seen. */
static bool owns_packet(const atmi_rpc_server_t *server, size_t index) {
  /* Only the last bit: a mailbox with any other value must not look as if it changed all the time. */
  return (atomic_load_explicit(&server->inbox[index], memory_order_acquire) & 1) != server->given[index];
}

static bool owns(const atmi_rpc_server_t *server, const atmi_rpc_port_t *port) {
  return owns_packet(server, (size_t)(port - server->ports));
}

/* Release: the device sees the answer before it sees that the packet is its own. */
static void give_back(const atmi_rpc_server_t *server, atmi_rpc_port_t *port) {
  size_t index = (size_t)(port - server->ports);
  server->given[index] ^= 1;
  port->received = false;
  atomic_store_explicit(&server->outbox[index], server->given[index], memory_order_release);
}

/* The next lane of the call from `lane` on, or the number of lanes. */
static uint32_t next_lane(const atmi_rpc_server_t *server, const atmi_rpc_port_t *port, uint32_t lane) {
  while (lane < server->lane_count && !(port->mask >> lane & 1))
    lane++;
  return lane;
}

#define FOR_EACH_LANE(lane)                                                                                  \
  for (uint32_t lane = next_lane(server, port, 0); lane < server->lane_count;                                \
       lane = next_lane(server, port, lane + 1))

/* ---- steps: each returns whether it is over; if not, it goes on when the packet is ours again ---- */

/* Before a receive: after another receive, the packet goes back first. */
static bool ready_to_receive(const atmi_rpc_server_t *server, atmi_rpc_port_t *port) {
  if (port->received)
    give_back(server, port);
  return owns(server, port);
}

static bool receive_slot(atmi_rpc_server_t *server, atmi_rpc_port_t *port) {
  if (!ready_to_receive(server, port))
    return false;
  FOR_EACH_LANE(lane)
  memcpy(port->lanes[lane].words, slot_of(server, port, lane), ATMI_RPC_SLOT_BYTES);
  port->received = true;
  return true;
}

static bool send_slot(atmi_rpc_server_t *server, atmi_rpc_port_t *port) {
  if (!owns(server, port))
    return false;
  FOR_EACH_LANE(lane)
  memcpy(slot_of(server, port, lane), port->lanes[lane].words, ATMI_RPC_SLOT_BYTES);
  give_back(server, port);
  return true;
}

/* Bytes of a lane's string in the packet at the port's position. */
static uint64_t here(const atmi_rpc_port_t *port, uint64_t size) {
  uint64_t most = port->at ? ATMI_RPC_SLOT_BYTES : ATMI_RPC_FIRST_BYTES;
  uint64_t left = size > port->at ? size - port->at : 0;
  return left < most ? left : most;
}

/* Moves behind the packet; true if it was the last one. A position cannot wrap: the device would need
 * centuries. */
static bool string_is_over(atmi_rpc_port_t *port) {
  port->at += port->at ? ATMI_RPC_SLOT_BYTES : ATMI_RPC_FIRST_BYTES;
  if (port->at < port->longest)
    return false;
  port->at = 0;
  return true;
}

static void begin_string(atmi_rpc_port_t *port, atmi_rpc_lane_t *lane, uint64_t size) {
  lane->size = size;
  lane->stored = 0;
  lane->refused = false;
  if (size > port->longest)
    port->longest = size;
}

static bool receive_string(atmi_rpc_server_t *server, atmi_rpc_port_t *port) {
  while (ready_to_receive(server, port)) {
    bool first = !port->at;
    if (first)
      port->longest = 0;
    FOR_EACH_LANE(i) {
      atmi_rpc_lane_t *lane = &port->lanes[i];
      uint64_t slot[ATMI_RPC_SLOT_BYTES / sizeof(uint64_t)];
      memcpy(slot, slot_of(server, port, i), sizeof slot);
      if (first)
        begin_string(port, lane, slot[0]);
      if (first && lane->size > STRING_LIMIT)
        refuse(server, lane);
      uint64_t bytes = here(port, lane->size);
      if (!bytes || lane->refused || !atmi_rpc_reserve(server, lane, lane->stored + bytes))
        continue;
      memcpy(lane->bytes + lane->stored, (char *)slot + (first ? sizeof *slot : 0), (size_t)bytes);
      lane->stored += bytes;
    }
    port->received = true;
    if (string_is_over(port))
      return true;
  }
  return false;
}

static bool send_string(atmi_rpc_server_t *server, atmi_rpc_port_t *port) {
  while (owns(server, port)) {
    bool first = !port->at;
    if (first)
      port->longest = 0;
    FOR_EACH_LANE(i) {
      const atmi_rpc_lane_t *lane = &port->lanes[i];
      if (lane->size > port->longest)
        port->longest = lane->size;
      uint64_t bytes = here(port, lane->size);
      char *slot = slot_of(server, port, i);
      if (first)
        memcpy(slot, &lane->size, sizeof lane->size);
      if (bytes)
        memcpy(slot + (first ? sizeof lane->size : 0), lane->bytes + port->at, (size_t)bytes);
    }
    give_back(server, port);
    if (string_is_over(port))
      return true;
  }
  return false;
}

static void act(atmi_rpc_server_t *server, atmi_rpc_port_t *port, atmi_rpc_act_t all) {
  FOR_EACH_LANE(lane)
  all(server, port, &port->lanes[lane]);
}

/* ---- calls ---- */

/* For an opcode that nobody knows: each packet of the call is answered with zeros, so that the wave goes on
 * whatever the call's steps are. */
static void answer_nothing(atmi_rpc_server_t *server, atmi_rpc_port_t *port, atmi_rpc_lane_t *lane) {
  (void)server;
  (void)port;
  memset(lane->words, 0, sizeof lane->words);
}
static const atmi_rpc_operation_t unknown_operation = {"unknown", "RAS", {0, false},    -1,
                                                       -1,        -1,    answer_nothing};

static bool begin_call(atmi_rpc_server_t *server, atmi_rpc_port_t *port) {
  if (!port->lanes && !(port->lanes = calloc(server->lane_count, sizeof *port->lanes)))
    return false; /* the wave waits until there is memory again */
  /* In all versions. */
  _Static_assert(offsetof(atmi_rpc_header_t, mask) == offsetof(atmi_rpc_header20_t, mask), "the first word");
  port->mask = *(const volatile uint64_t *)(const void *)header_of(server, port);
  port->opcode = opcode_of(server, port);
  port->operation = atmi_rpc_find_operation(server->version, port->opcode);
  if (!port->operation) {
    atmi_rpc_report(
        server, ATMI_RPC_BAD_OPCODE,
        "operation %u (0x%x), which the protocol of LLVM %d does not have; was the image built with another "
        "version of LLVM?",
        port->opcode, port->opcode, (int)server->version);
    server->failed = true;
    port->operation = &unknown_operation;
  }
  port->step = port->operation->steps;
  port->at = port->longest = 0;
  port->received = false;
  FOR_EACH_LANE(lane) {
    port->lanes[lane].size = port->lanes[lane].stored = 0;
    port->lanes[lane].refused = false;
    port->lanes[lane].asked = 0;
    atmi_rpc_printing_end(server, &port->lanes[lane]);
  }
  return true;
}

static void end_call(atmi_rpc_server_t *server, atmi_rpc_port_t *port) {
  port->operation = NULL;
  FOR_EACH_LANE(lane)
  if (port->lanes[lane].capacity > KEPT_BYTES)
    release_bytes(server, &port->lanes[lane]);
  if (port->received)
    give_back(server, port);
}

/* Does one step. False if it has to wait for the device. */
static bool do_step(atmi_rpc_server_t *server, atmi_rpc_port_t *port) {
  const char *step = port->step;
  bool done = true;
  switch (*step) {
  case 'R': done = receive_slot(server, port); break;
  case 'S': done = send_slot(server, port); break;
  case 'N': done = receive_string(server, port); break;
  case 'B': done = send_string(server, port); break;
  /* An act may put another operation in this one's place. */
  case 'A': act(server, port, port->operation->act); break;
  case 'D': act(server, port, atmi_rpc_print_deliver); break;
  }
  /* An act may have put other steps in the place of those that follow. */
  if (done && port->step == step)
    port->step = step + 1;
  return done;
}

/* A port whose packet is ours. */
static bool serve_port(atmi_rpc_server_t *server, atmi_rpc_port_t *port) {
  if (!port->operation && !begin_call(server, port))
    return false;
  const char *before = port->step;
  uint64_t at = port->at;
  while (*port->step && do_step(server, port))
    ;
  if (*port->step)
    return port->step != before || port->at != at;
  end_call(server, port);
  return true;
}

bool atmi_rpc_server_poll(atmi_rpc_server_t *server) {
  bool worked = false;
  for (uint32_t i = 0; i < server->port_count; i++)
    if (owns_packet(server, i))
      worked = serve_port(server, &server->ports[i]) || worked;
  if (server->ending == ATMI_RPC_GOES_ON)
    return worked;
  /* What other waves had asked for before is done; nothing more will come of this call. */
  bool exits = server->ending == ATMI_RPC_EXITS;
  server->ending = ATMI_RPC_GOES_ON;
  atmi_rpc_server_flush(server);
  if (exits)
    server->host.exit(server->host.context, server->exit_status);
  else
    server->host.abort(server->host.context);
  return true;
}

void atmi_rpc_server_flush(atmi_rpc_server_t *server) {
  if (!server->wrote)
    return;
  server->wrote = false;
  fflush(stdout);
  fflush(stderr);
}

/* ---- beginning and end ---- */

atmi_rpc_client_t atmi_rpc_client_for(uint64_t device_buffer, uint32_t ports, uint32_t lanes) {
  (void)lanes; /* the packets' size is fixed in the image's code */
  return (atmi_rpc_client_t){.port_count = ports,
                             .inbox = device_buffer,
                             .outbox = device_buffer + (uint64_t)ports * sizeof(uint32_t),
                             .packets = device_buffer + atmi_rpc_packets_offset(ports)};
}

atmi_rpc_client20_t atmi_rpc_client20_for(uint64_t device_buffer, uint32_t ports) {
  return (atmi_rpc_client20_t){.port_count = ports,
                               .inbox = device_buffer,
                               .outbox = device_buffer + (uint64_t)ports * sizeof(uint32_t),
                               .headers = device_buffer + atmi_rpc_headers20_offset(ports),
                               .slots = device_buffer + atmi_rpc_slots20_offset(ports)};
}

atmi_rpc_client23_t atmi_rpc_client23_for(uint64_t device_buffer, uint32_t ports, uint32_t lanes) {
  atmi_rpc_client20_t same = atmi_rpc_client20_for(device_buffer, ports);
  return (atmi_rpc_client23_t){.port_count = ports,
                               .doorbell = device_buffer + atmi_rpc_doorbell20_offset(ports, lanes),
                               .inbox = same.inbox,
                               .outbox = same.outbox,
                               .headers = same.headers,
                               .slots = same.slots};
}

size_t atmi_rpc_server_bytes(uint32_t ports, uint32_t lanes, atmi_rpc_version_t version) {
  return version == ATMI_RPC_LLVM20 ? atmi_rpc_buffer20_bytes(ports, lanes)
                                    : atmi_rpc_buffer_bytes(ports, lanes);
}

/* Where headers and slots are. */
static void lay_out(atmi_rpc_server_t *server, char *buffer) {
  if (server->version == ATMI_RPC_LLVM20) {
    server->headers = buffer + atmi_rpc_headers20_offset(server->port_count);
    server->header_stride = sizeof(atmi_rpc_header20_t);
    server->slots = buffer + atmi_rpc_slots20_offset(server->port_count);
    server->slot_stride = (size_t)server->lane_count * ATMI_RPC_SLOT_BYTES;
    return;
  }
  server->headers = buffer + atmi_rpc_packets_offset(server->port_count);
  server->slots = server->headers + sizeof(atmi_rpc_header_t);
  server->header_stride = server->slot_stride = atmi_rpc_packet_bytes(server->lane_count);
}

atmi_status_t atmi_rpc_server_init(const char *where, void *buffer, uint32_t ports, uint32_t lanes,
                                   atmi_rpc_version_t version, const atmi_rpc_host_t *host,
                                   atmi_rpc_server_t *server) {
  *server = (atmi_rpc_server_t){.where = where,
                                .version = version,
                                .port_count = ports,
                                .lane_count = lanes,
                                .outbox = (_Atomic uint32_t *)buffer,
                                .inbox = (_Atomic uint32_t *)buffer + ports,
                                .host = *host};
  lay_out(server, buffer);
  server->ports = calloc(ports, sizeof *server->ports);
  server->given = calloc(ports, sizeof *server->given);
  if (!server->ports || !server->given)
    return atmi_fail(ATMI_NO_MEMORY, where, "cannot serve requests of device code: out of host memory");
  return ATMI_OK;
}

void atmi_rpc_server_fini(atmi_rpc_server_t *server) {
  for (uint32_t i = 0; server->ports && i < server->port_count; i++) {
    atmi_rpc_lane_t *lanes = server->ports[i].lanes;
    for (uint32_t lane = 0; lanes && lane < server->lane_count; lane++) {
      atmi_rpc_printing_end(server, &lanes[lane]);
      free(lanes[lane].bytes);
    }
    free(lanes);
  }
  free(server->ports);
  free(server->given);
  atmi_rpc_files_fini(&server->files);
  *server = (atmi_rpc_server_t){0};
}
