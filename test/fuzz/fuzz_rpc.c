/* Fuzz target: what device code leaves in the memory that it shares with its host, for the server of LLVM
 * libc's protocol and for that of ROCm's hostcall. An input is a kind (first byte) and then steps that a
 * device could do between two looks of the server: write anything anywhere, or what a well-behaved client
 * would write. Files are in memory, standard streams go nowhere. Not here: what good requests do
 * (test/unit/plugin_rpc.c, plugin_hostcall.c). */
#include "fuzz.h"

#include "base/heap.h"
#include "services/hostcall.h"
#include "shared/print_message.h"
#include "services/rpc_server.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PORTS = 4, PACKETS = 5, LANE_MOST = 128 << 10, MOST_PIECE = 1 << 22, MOST_MEMORY = 1 << 26 };
/* The bits of an input's first byte. */
enum { KIND_17 = 1, KIND_32 = 2, KIND_HOSTCALL = 4 };
/* A step: this, then a port, a lane, a length, and as many bytes as the length says. */
enum { STEP_SLOT, STEP_HEADER, STEP_FLIP, STEP_POLL, STEP_WRITE, STEP_PUSH, STEP_KINDS };
enum { STEP_BYTES = 4, ENDING_POLLS = 50 };

typedef struct device {
  unsigned kind;
  uint32_t lanes;
  unsigned char *buffer;
  size_t bytes;
  atmi_rpc_server_t server;
  atmi_hostcall_t hostcall;
  atmi_heap_t heap;
  uint64_t given; /* by the heap's source */
} device_t;

/* ---- the host ---- */

/* In the place of the server's fopen (CMakeLists.txt): paths come from the input. */
FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode) {
  FUZZ_CHECK(strlen(path) + strlen(mode) < SIZE_MAX);
  int file = memfd_create("file", 0);
  FILE *stream = file < 0 ? NULL : fdopen(file, mode);
  if (!stream && file >= 0)
    close(file);
  return stream;
}

static uint64_t give_piece(void *context, uint64_t bytes) {
  device_t *device = context;
  if (bytes > MOST_PIECE || device->given + bytes > MOST_MEMORY)
    return 0;
  device->given += bytes;
  return (uint64_t)(uintptr_t)malloc((size_t)bytes);
}
static void take_piece(void *context, uint64_t address) {
  (void)context;
  free((void *)(uintptr_t)address);
}
static uint64_t allocate(void *context, uint64_t bytes) {
  device_t *device = context;
  return atmi_heap_allocate(&device->heap, bytes);
}
static bool release(void *context, uint64_t address) {
  device_t *device = context;
  return atmi_heap_release(&device->heap, address);
}
static void end_with(void *context, int status) {
  (void)context;
  (void)status;
}
static void end_badly(void *context) {
  (void)context;
}

static void open_device(device_t *device, unsigned kind) {
  const atmi_rpc_host_t host = {device, allocate, release, end_with, end_badly, false};
  const atmi_heap_backing_t memory = {device, give_piece, take_piece, false};
  *device = (device_t){.kind = kind, .lanes = kind & KIND_32 ? 32 : 64};
  device->bytes =
      kind & KIND_HOSTCALL ? atmi_hostcall_bytes(PACKETS) : atmi_rpc_buffer_bytes(PORTS, device->lanes);
  device->buffer = aligned_alloc(64, (device->bytes + 63) & ~(size_t)63);
  FUZZ_CHECK(device->buffer != NULL);
  memset(device->buffer, 0, device->bytes);
  atmi_heap_init(&memory, &device->heap);
  if (kind & KIND_HOSTCALL)
    atmi_hostcall_init("device", device->buffer, PACKETS, 1, &host, &device->hostcall);
  else
    FUZZ_CHECK(!atmi_rpc_server_init("device", device->buffer, PORTS, device->lanes,
                                     kind & KIND_17 ? ATMI_RPC_LLVM17 : ATMI_RPC_LLVM18, &host,
                                     &device->server));
}

static void close_device(device_t *device) {
  atmi_rpc_server_fini(&device->server);
  atmi_hostcall_fini(&device->hostcall);
  atmi_heap_fini(&device->heap);
  free(device->buffer);
}

/* Memory for strings is what the lanes have: what a port keeps, a piece of a file that is read, and bytes
 * that came. */
static void check_server(const atmi_rpc_server_t *server, size_t input) {
  uint64_t stored = 0;
  for (uint32_t port = 0; port < server->port_count; port++)
    for (uint32_t lane = 0; server->ports[port].lanes && lane < server->lane_count; lane++)
      stored += server->ports[port].lanes[lane].capacity;
  FUZZ_CHECK(stored == server->stored_bytes);
  FUZZ_CHECK(stored <= (uint64_t)PORTS * 64 * (LANE_MOST + 2 * (uint64_t)input));
}

static bool poll_device(device_t *device) {
  return device->kind & KIND_HOSTCALL ? atmi_hostcall_poll(&device->hostcall)
                                      : atmi_rpc_server_poll(&device->server);
}

/* ---- the device's steps ---- */

static void copy_into(const device_t *device, size_t at, const uint8_t *bytes, size_t length) {
  for (size_t i = 0; i < length && at + i < device->bytes; i++)
    device->buffer[at + i] = bytes[i];
}

static size_t packet_at(const device_t *device, unsigned port) {
  return atmi_rpc_packets_offset(PORTS) + port % PORTS * atmi_rpc_packet_bytes(device->lanes);
}

static void step_rpc(const device_t *device, const uint8_t *step, const uint8_t *bytes, size_t length) {
  unsigned port = step[1], lane = step[2];
  uint32_t *outboxes = (uint32_t *)(void *)device->buffer + PORTS;
  switch (step[0] % STEP_KINDS) {
  case STEP_SLOT:
    /* The last lane number means all of them. */
    for (uint32_t i = 0; i < device->lanes; i++)
      if (lane == 0xff || lane % device->lanes == i)
        copy_into(device,
                  packet_at(device, port) + sizeof(atmi_rpc_header_t) + (size_t)i * ATMI_RPC_SLOT_BYTES,
                  bytes, length < ATMI_RPC_SLOT_BYTES ? length : ATMI_RPC_SLOT_BYTES);
    break;
  case STEP_HEADER: copy_into(device, packet_at(device, port), bytes, length); break;
  case STEP_FLIP: outboxes[port % PORTS] ^= 1; break;
  case STEP_WRITE: copy_into(device, (size_t)port * 256 + lane, bytes, length); break;
  default: break;
  }
}

/* Packets of hostcall: header, payloads, and the list of those that are ready. */
static void step_hostcall(const device_t *device, const uint8_t *step, const uint8_t *bytes, size_t length) {
  atmi_hostcall_buffer_t *buffer = (atmi_hostcall_buffer_t *)(void *)device->buffer;
  size_t headers = 64, payloads = headers + (PACKETS * sizeof(atmi_hostcall_header_t) + 63) / 64 * 64;
  unsigned packet = step[1] % PACKETS, lane = step[2];
  size_t header = headers + packet * sizeof(atmi_hostcall_header_t);
  switch (step[0] % STEP_KINDS) {
  case STEP_SLOT:
    for (unsigned i = 0; i < 64; i++)
      if (lane == 0xff || lane % 64 == i)
        copy_into(device, payloads + ((size_t)packet * 64 + i) * 64, bytes, length < 64 ? length : 64);
    break;
  case STEP_HEADER: copy_into(device, header, bytes, length); break;
  case STEP_WRITE: copy_into(device, (size_t)step[1] * 256 + lane, bytes, length); break;
  case STEP_PUSH: {
    uint64_t word = atomic_load(&buffer->ready_stack);
    copy_into(device, header, (const uint8_t *)&word, sizeof word);
    atomic_store(&buffer->ready_stack, packet ? packet : 8);
    break;
  }
  default: break;
  }
}

static void run_steps(device_t *device, const uint8_t *data, size_t size) {
  for (size_t at = 0; at + STEP_BYTES <= size;) {
    const uint8_t *step = data + at, *bytes = step + STEP_BYTES;
    size_t left = size - at - STEP_BYTES, length = step[3] < left ? step[3] : left;
    if (step[0] % STEP_KINDS == STEP_POLL)
      (void)poll_device(device);
    else if (device->kind & KIND_HOSTCALL)
      step_hostcall(device, step, bytes, length);
    else
      step_rpc(device, step, bytes, length);
    at += STEP_BYTES + length;
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static FILE *nowhere;
  if (!nowhere && (!(nowhere = fdopen(dup(STDERR_FILENO), "w")) || !freopen("/dev/null", "r", stdin)))
    fuzz_failed(__FILE__, __LINE__, "streams");
  FILE *out = stdout;
  stdout = nowhere;
  device_t device;
  open_device(&device, size ? data[0] : 0);
  if (size)
    run_steps(&device, data + 1, size - 1);
  /* Nothing changes any more, so the server has to come to rest. */
  int polls = 0;
  while (poll_device(&device) && polls < ENDING_POLLS)
    polls++;
  FUZZ_CHECK(polls < ENDING_POLLS);
  if (!(device.kind & KIND_HOSTCALL))
    check_server(&device.server, size);
  close_device(&device);
  stdout = out;
  return 0;
}

/* ---- seeds ---- */

typedef struct writer {
  uint8_t *data;
  size_t size, capacity;
} writer_t;

static void put_step(writer_t *to, unsigned what, unsigned port, unsigned lane, const void *bytes,
                     size_t length) {
  if (to->size + STEP_BYTES + length > to->capacity)
    return;
  const uint8_t head[STEP_BYTES] = {(uint8_t)what, (uint8_t)port, (uint8_t)lane, (uint8_t)length};
  memcpy(to->data + to->size, head, sizeof head);
  if (length)
    memcpy(to->data + to->size + sizeof head, bytes, length);
  to->size += sizeof head + length;
}

/* Gives the packet to the host and lets it work. */
static void hand_over(writer_t *to, unsigned port) {
  put_step(to, STEP_FLIP, port, 0, NULL, 0);
  put_step(to, STEP_POLL, 0, 0, NULL, 0);
}

static void put_header(writer_t *to, unsigned port, uint64_t mask, uint16_t opcode) {
  const atmi_rpc_header_t header = {.mask = mask, .opcode = opcode};
  put_step(to, STEP_HEADER, port, 0, &header, sizeof header);
}

static void send_words(writer_t *to, unsigned port, uint64_t a, uint64_t b, uint64_t c) {
  put_step(to, STEP_SLOT, port, 0xff, (uint64_t[]){a, b, c}, 24);
  hand_over(to, port);
}

static void send_string(writer_t *to, unsigned port, const void *text, uint64_t length) {
  char slot[ATMI_RPC_SLOT_BYTES];
  uint64_t at = length < ATMI_RPC_FIRST_BYTES ? length : ATMI_RPC_FIRST_BYTES;
  memcpy(slot, &length, sizeof length);
  memcpy(slot + sizeof length, text, (size_t)at);
  put_step(to, STEP_SLOT, port, 0xff, slot, sizeof slot);
  hand_over(to, port);
  while (at < length) {
    uint64_t piece = length - at < sizeof slot ? length - at : sizeof slot;
    put_step(to, STEP_SLOT, port, 0xff, (const char *)text + at, (size_t)piece);
    hand_over(to, port);
    at += piece;
  }
}

/* A message of the device support library's printf. */
static void send_print(writer_t *to, unsigned port, const char *format, const uint64_t *words, unsigned count,
                       const char *text) {
  char message[500] = {0};
  atmi_print_header_t header = {2, (uint32_t)strlen(format) + 1, count * 8};
  uint32_t length = (uint32_t)strlen(text);
  size_t at = sizeof header;
  memcpy(message, &header, sizeof header);
  memcpy(message + at, format, header.format_bytes);
  at += atmi_print_padded(header.format_bytes);
  memcpy(message + at, words, header.argument_bytes);
  at += header.argument_bytes;
  memcpy(message + at, &length, sizeof length);
  memcpy(message + at + sizeof length, text, length);
  put_header(to, port, 0x8001, ATMI_RPC_PRINT);
  send_string(to, port, message, at + sizeof length + length);
}

static void seed_files(writer_t *to) {
  static const uint64_t first_file = 1 << 20;
  static const struct {
    uint16_t opcode;
    uint64_t words[3];
  } asked[] = {{17, {first_file, 2, 0}},   {18, {first_file, 0, 0}},
               {19, {first_file, 0, 0}},   {14, {first_file, 0, 0}},
               {15, {first_file, 0, 0}},   {16, {first_file, 0, 0}},
               {20, {'x', first_file, 0}}, {6, {70, first_file, 0}},
               {7, {40, first_file, 0}},   {19, {0, 0, 0}},
               {9, {first_file, 0, 0}},    {9, {first_file, 0, 0}}};
  put_header(to, 0, 1, 8);
  send_string(to, 0, "a/file", 7);
  send_words(to, 0, 0x2b77, 0, 0); /* "w+" */
  put_header(to, 0, 1, 4);
  send_words(to, 0, first_file, 0, 0);
  send_string(
      to, 0, "two lines of text\nof which this one is a longer one than the first packet has room for\n", 87);
  for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
    put_header(to, 0, 1, asked[i].opcode);
    send_words(to, 0, asked[i].words[0], asked[i].words[1], asked[i].words[2]);
    for (int more = 0; more < 3 && (asked[i].opcode == 6 || asked[i].opcode == 7); more++)
      hand_over(to, 0);
  }
}

static void seed_output(writer_t *to) {
  static const char text[] =
      "more than fifty-six bytes, so that a second packet follows, and a third one after the second";
  for (unsigned opcode = 2; opcode <= 5; opcode += opcode == 3 ? 2 : 1) {
    put_header(to, opcode % PORTS, UINT64_MAX, (uint16_t)opcode);
    send_string(to, opcode % PORTS, text, sizeof text - 1);
  }
  send_print(to, 0, "%d %5.2f|%s|%-*.3s|%%|%c\n", (uint64_t[]){7, 0x4000000000000000, 0, 5, 0, 'c'}, 6,
             "string");
  send_print(to, 1, "%2$s %1$d %3$*1$lx\n", (uint64_t[]){7, 0, 12345}, 3, "numbered");
  send_print(to, 2, "%ls %n %m %p %a %zu %hhd\n", (uint64_t[]){0, 0, 77, 0x3ff8000000000000, 5, 6}, 6, "");
}

static void seed_others(writer_t *to) {
  put_header(to, 1, 7, 10); /* malloc; the answer stays in the slot, for free */
  send_words(to, 1, 100, 0, 0);
  put_header(to, 1, 7, 11);
  hand_over(to, 1);
  put_header(to, 1, 1, 10);
  send_words(to, 1, 3000000, 0, 0);
  put_header(to, 1, 1, 11);
  hand_over(to, 1);
  put_header(to, 0, 3, 12);
  send_string(to, 0, "arguments", 9);
  send_words(to, 0, 0x1234, 0, 0);
  put_header(to, 2, UINT64_MAX, ATMI_RPC_TEST_STREAM);
  send_string(to, 2, "there and back again, in more than a single packet of the protocol", 66);
  hand_over(to, 2);
  put_header(to, 3, 1, ATMI_RPC_TEST_INTERFACE);
  for (int i = 0; i < 12; i++)
    send_words(to, 3, 1, 0, 0);
  for (unsigned opcode = 1; opcode <= 13; opcode += 12) {
    put_header(to, 0, 1, (uint16_t)opcode);
    hand_over(to, 0);
    send_words(to, 0, 3, 0, 0);
  }
}

static void put_hostcall(writer_t *to, unsigned packet, uint32_t service, const uint64_t *words) {
  const atmi_hostcall_header_t header = {.active_mask = 3, .service = service, .control = 1};
  put_step(to, STEP_HEADER, packet, 0, &header, sizeof header);
  put_step(to, STEP_SLOT, packet, 0xff, words, 64);
  put_step(to, STEP_PUSH, packet, 0, NULL, 0);
}

static void seed_hostcall(writer_t *to) {
  uint64_t format[8] = {1 | 7 << 5}, rest[8] = {2 | 3 << 5, 0x4000000000000000, 0x676e69727473, 9};
  memcpy(&format[2], "%d %5.2f %s %*d\n", 17);
  format[5] = 42;
  put_hostcall(to, 0, 3, (uint64_t[8]){0, 100});
  put_hostcall(to, 1, 1, (uint64_t[8]){0x1234, 1, 2, 3});
  put_hostcall(to, 2, 2, format);
  put_step(to, STEP_POLL, 0, 0, NULL, 0);
  put_hostcall(to, 0, 3, (uint64_t[8]){0x1230});
  put_hostcall(to, 2, 2, rest);
  put_hostcall(to, 3, 99, rest);
  put_step(to, STEP_POLL, 0, 0, NULL, 0);
}

size_t fuzz_seed(unsigned number, uint8_t *data, size_t capacity) {
  static void (*const seeds[])(writer_t *) = {seed_files, seed_output, seed_others, seed_hostcall};
  static const unsigned kinds[] = {0, KIND_32, 0, KIND_HOSTCALL, KIND_17};
  if (number >= sizeof kinds / sizeof *kinds)
    return 0;
  writer_t to = {data, 1, capacity};
  data[0] = (uint8_t)kinds[number];
  seeds[number % 4](&to);
  return to.size;
}
