/* The RPC server against a model of one wave: the client's side of the protocol, written from its facts (doc
 * comments in shared/rpc_protocol.h and LLVM libc's behaviour), with well-behaved calls of both versions and
 * with hostile ones. */
#include "plugin_test.h"

#include "shared/print_message.h"
#include "services/rpc_server.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PORTS = 8, LONG_STRING = 100000 };

/* ---- the wave ---- */

typedef struct wave {
  atmi_rpc_server_t server;
  atmi_rpc_version_t version;
  uint32_t lanes;
  void *buffer;
  atmi_rpc_client_t client;
  uint32_t port;
  uint64_t mask;
  bool received; /* last step was a receive */
} wave_t;

typedef struct endings {
  int exits, aborts, status;
  uint64_t allocated, released;
} endings_t;

static uint64_t model_allocate(void *context, uint64_t bytes) {
  endings_t *endings = context;
  endings->allocated = bytes;
  return bytes > 1 << 20 ? 0 : 0x7000;
}

static bool model_release(void *context, uint64_t address) {
  endings_t *endings = context;
  endings->released = address;
  return address == 0x7000;
}

static void model_exit(void *context, int status) {
  endings_t *endings = context;
  endings->exits++;
  endings->status = status;
}

static void model_abort(void *context) {
  ((endings_t *)context)->aborts++;
}

static endings_t endings;

static void begin(wave_t *wave, uint32_t lanes, atmi_rpc_version_t version) {
  const atmi_rpc_host_t host = {&endings, model_allocate, model_release, model_exit, model_abort, true};
  endings = (endings_t){0};
  size_t bytes = atmi_rpc_server_bytes(PORTS, lanes, version);
  void *buffer = aligned_alloc(64, (bytes + 63) / 64 * 64);
  assert_non_null(buffer);
  memset(buffer, 0, bytes);
  *wave = (wave_t){.lanes = lanes, .buffer = buffer, .version = version};
  assert_int_equal(atmi_rpc_server_init("model", buffer, PORTS, lanes, version, &host, &wave->server),
                   ATMI_OK);
  wave->client = atmi_rpc_client_for((uint64_t)(uintptr_t)buffer, PORTS, lanes);
}

static void end(wave_t *wave) {
  atmi_rpc_server_fini(&wave->server);
  free(wave->buffer);
}

static uint32_t *word_at(uint64_t base, uint32_t index) {
  return (uint32_t *)(uintptr_t)base + index;
}

/* The packet's place, by the layout of the facts and not by the server's functions. */
static char *packet_of(const wave_t *wave) {
  if (wave->version == ATMI_RPC_LLVM20)
    return (char *)wave->buffer + 8 * PORTS + 16 * wave->port;
  size_t packet = 16 + 64 * (size_t)wave->lanes;
  packet = (packet + 63) / 64 * 64;
  return (char *)wave->buffer + (8 * PORTS + 63) / 64 * 64 + wave->port * packet;
}

static uint64_t *slot_of(const wave_t *wave, uint32_t lane) {
  if (wave->version == ATMI_RPC_LLVM20)
    return (uint64_t *)(void *)((char *)wave->buffer + (8 + 16) * PORTS +
                                64 * ((size_t)wave->port * wave->lanes + lane));
  return (uint64_t *)(void *)(packet_of(wave) + 16 + 64 * (size_t)lane);
}

static bool owns(const wave_t *wave) {
  return *word_at(wave->client.inbox, wave->port) == *word_at(wave->client.outbox, wave->port);
}

static void flip(wave_t *wave) {
  *word_at(wave->client.outbox, wave->port) ^= 1;
}

/* Lets the server work until the packet is the wave's. */
static void await(wave_t *wave) {
  for (int i = 0; !owns(wave); i++) {
    if (i == 1000)
      fail_msg("the server never gives the packet back");
    atmi_rpc_server_poll(&wave->server);
  }
}

static void open_port(wave_t *wave, uint32_t port, uint32_t opcode, uint64_t mask) {
  wave->port = port;
  wave->mask = mask;
  wave->received = false;
  assert_true(owns(wave));
  memcpy(packet_of(wave), &mask, sizeof mask);
  memcpy(packet_of(wave) + 8, &opcode, wave->version == ATMI_RPC_LLVM20 ? 4 : 2);
}

static bool active(const wave_t *wave, uint32_t lane) {
  return lane < wave->lanes && wave->mask >> lane & 1;
}

static void send_begin(wave_t *wave) {
  await(wave);
  wave->received = false;
}

static void receive_begin(wave_t *wave) {
  if (wave->received)
    flip(wave);
  await(wave);
  wave->received = true;
}

/* Sends up to three words, the same in all lanes but for the lane's number added to the first. */
static void send_words(wave_t *wave, uint64_t a, uint64_t b, uint64_t c) {
  send_begin(wave);
  for (uint32_t lane = 0; lane < wave->lanes; lane++)
    if (active(wave, lane))
      memcpy(slot_of(wave, lane), (uint64_t[]){a + lane, b, c}, 24);
  flip(wave);
}

static void send_word(wave_t *wave, uint64_t word) {
  send_begin(wave);
  for (uint32_t lane = 0; lane < wave->lanes; lane++)
    if (active(wave, lane))
      slot_of(wave, lane)[0] = word;
  flip(wave);
}

static uint64_t receive_word(wave_t *wave, uint32_t lane) {
  receive_begin(wave);
  return slot_of(wave, lane)[0];
}

typedef struct string {
  const void *bytes;
  uint64_t size;
} string_t;

/* Each lane sends its own string; `strings` has one for each lane. */
static void send_strings(wave_t *wave, const string_t *strings) {
  uint64_t longest = 0, at = 0;
  for (uint32_t lane = 0; lane < wave->lanes; lane++)
    if (active(wave, lane) && strings[lane].size > longest)
      longest = strings[lane].size;
  do {
    uint64_t room = at ? 64 : 56;
    send_begin(wave);
    for (uint32_t lane = 0; lane < wave->lanes; lane++) {
      if (!active(wave, lane))
        continue;
      char *slot = (char *)slot_of(wave, lane);
      uint64_t left = strings[lane].size > at ? strings[lane].size - at : 0;
      if (!at)
        memcpy(slot, &strings[lane].size, 8);
      if (left)
        memcpy(slot + (at ? 0 : 8), (const char *)strings[lane].bytes + at, left < room ? left : room);
    }
    flip(wave);
    at += room;
  } while (at < longest);
}

static void send_string(wave_t *wave, const void *bytes, uint64_t size) {
  string_t strings[64];
  for (int i = 0; i < 64; i++)
    strings[i] = (string_t){bytes, size};
  send_strings(wave, strings);
}

/* Receives strings of all lanes into buffers of `capacity` bytes each. */
static void receive_strings(wave_t *wave, char *buffers, uint64_t capacity, uint64_t *sizes) {
  uint64_t longest = 0, at = 0;
  do {
    uint64_t room = at ? 64 : 56;
    receive_begin(wave);
    for (uint32_t lane = 0; lane < wave->lanes; lane++) {
      if (!active(wave, lane))
        continue;
      const char *slot = (const char *)slot_of(wave, lane);
      if (!at) {
        memcpy(&sizes[lane], slot, 8);
        assert_true(sizes[lane] <= capacity);
        longest = sizes[lane] > longest ? sizes[lane] : longest;
      }
      uint64_t left = sizes[lane] > at ? sizes[lane] - at : 0;
      memcpy(buffers + lane * capacity + at, slot + (at ? 0 : 8), left < room ? left : room);
    }
    at += room;
  } while (at < longest);
}

static void settle(wave_t *wave) {
  while (atmi_rpc_server_poll(&wave->server))
    ;
}

/* ---- catching stdout ---- */

static int saved_stdout;
static FILE *caught;

static void catch_begin(void) {
  fflush(stdout);
  caught = tmpfile();
  saved_stdout = dup(STDOUT_FILENO);
  assert_true(dup2(fileno(caught), STDOUT_FILENO) >= 0);
}

static size_t catch_end(char *text, size_t bytes) {
  fflush(stdout);
  assert_true(dup2(saved_stdout, STDOUT_FILENO) >= 0);
  close(saved_stdout);
  rewind(caught);
  size_t length = fread(text, 1, bytes - 1, caught);
  text[length] = 0;
  fclose(caught);
  return length;
}

/* ---- good calls ---- */

static void layout_is_that_of_the_facts(void **state) {
  (void)state;
  /* Of 20: two mailboxes, headers of 16 bytes, slots of 64. */
  assert_int_equal(atmi_rpc_server_bytes(512, 64, ATMI_RPC_LLVM20), 512 * (4 + 4 + 16 + 64 * 64) + 64);
  assert_int_equal(offsetof(atmi_rpc_client20_t, headers), 24);
  assert_int_equal(offsetof(atmi_rpc_client20_t, slots), 32);
  assert_int_equal(offsetof(atmi_rpc_client20_t, locks), 40);
  atmi_rpc_client20_t client20 = atmi_rpc_client20_for(0x10000, 512);
  assert_int_equal(client20.outbox - client20.inbox, 2048);
  assert_int_equal(client20.headers - client20.inbox, 4096);
  assert_int_equal(client20.slots - client20.headers, 8192);
  /* Of 23: a doorbell in front of the others, which lies behind the slots with us. */
  assert_int_equal(offsetof(atmi_rpc_client23_t, doorbell), 8);
  assert_int_equal(offsetof(atmi_rpc_client23_t, inbox), 16);
  assert_int_equal(offsetof(atmi_rpc_client23_t, locks), 48);
  atmi_rpc_client23_t client23 = atmi_rpc_client23_for(0x10000, 512, 64);
  assert_int_equal(client23.inbox, client20.inbox);
  assert_int_equal(client23.outbox, client20.outbox);
  assert_int_equal(client23.headers, client20.headers);
  assert_int_equal(client23.slots, client20.slots);
  assert_int_equal(client23.doorbell - client23.slots, 512 * 64 * 64);
  assert_int_equal(atmi_rpc_packet_bytes(1), 128);
  assert_int_equal(atmi_rpc_packet_bytes(32), 2112);
  assert_int_equal(atmi_rpc_packet_bytes(64), 4160);
  assert_int_equal(atmi_rpc_buffer_bytes(512, 32), 1085440);
  assert_int_equal(atmi_rpc_buffer_bytes(512, 64), 2134016);
  assert_int_equal(atmi_rpc_packets_offset(512), 4096);
  assert_int_equal(offsetof(atmi_rpc_client_t, inbox), 8);
  assert_int_equal(offsetof(atmi_rpc_client_t, outbox), 16);
  assert_int_equal(offsetof(atmi_rpc_client_t, packets), 24);
  assert_int_equal(offsetof(atmi_rpc_client_t, locks), 32);
}

static void numbers_are_those_of_the_versions(void **state) {
  (void)state;
  static const struct {
    uint16_t opcode;
    const char *in17, *in18;
  } rows[] = {
      {0, "noop", "noop"},
      {1, "exit", "exit"},
      {2, "write to stdout", "write to stdout"},
      {5, "open", "write line to stdout"},
      {6, "close", "read from stream"},
      {7, "malloc", "fgets"},
      {8, "free", "open"},
      {9, "host call", "close"},
      {10, NULL, "malloc"},
      {11, NULL, "free"},
      {12, NULL, "host call"},
      {13, NULL, "abort"},
      {17, NULL, "fseek"},
      {20, NULL, "ungetc"},
      {21, NULL, NULL},
      {0xffff, NULL, NULL},
      {0x8003, "test stream", "test stream"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    for (int version = 17; version <= 18; version++) {
      const atmi_rpc_operation_t *found =
          atmi_rpc_find_operation((atmi_rpc_version_t)version, rows[i].opcode);
      const char *expected = version == 17 ? rows[i].in17 : rows[i].in18;
      assert_int_equal(found != NULL, expected != NULL);
      if (found)
        assert_string_equal(found->name, expected);
    }
}

static void writes_each_lane(void **state) {
  wave_t wave;
  begin(&wave, (uint32_t)(uintptr_t)*state, ATMI_RPC_LLVM18);
  string_t strings[64];
  char *texts = malloc(64 * 200), *expected = calloc(1, 64 * 200), *got = malloc(64 * 200);
  for (uint32_t lane = 0; lane < 64; lane++) {
    /* Lengths around the ends of packets. */
    static const int lengths[] = {0, 1, 55, 56, 57, 119, 120, 121};
    int length = lengths[lane % 8];
    memset(texts + lane * 200, 'a' + (int)lane % 26, (size_t)length);
    strings[lane] = (string_t){texts + lane * 200, (uint64_t)length};
  }
  for (int round = 0; round < 2; round++) {
    uint64_t mask = round ? UINT64_C(0xf0f0f0f0f0f0f0f1) : UINT64_MAX;
    *expected = 0;
    for (uint32_t lane = 0; lane < wave.lanes; lane++)
      if (mask >> lane & 1)
        snprintf(expected + strlen(expected), 200, "%.*s\n", (int)strings[lane].size,
                 (const char *)strings[lane].bytes);
    catch_begin();
    open_port(&wave, 3, 5, mask);
    send_strings(&wave, strings);
    assert_int_equal(receive_word(&wave, 0), strings[0].size + 1);
    settle(&wave);
    catch_end(got, 64 * 200);
    assert_string_equal(got, expected);
    assert_true(owns(&wave));
  }
  free(texts);
  free(expected);
  free(got);
  end(&wave);
}

static void files_do_what_files_do(void **state) {
  (void)state;
  wave_t wave;
  char name[] = "/tmp/plugin_rpc.XXXXXX", lines[8 * 64];
  uint64_t sizes[64];
  int descriptor = mkstemp(name);
  assert_true(descriptor >= 0);
  close(descriptor);
  begin(&wave, 32, ATMI_RPC_LLVM18);
  open_port(&wave, 0, 8, 1); /* open */
  send_string(&wave, name, sizeof name);
  uint64_t mode = 0;
  memcpy(&mode, "w+", 3);
  send_word(&wave, mode);
  uint64_t file = receive_word(&wave, 0);
  assert_true(file && !(file & 3));
  char *content = malloc(LONG_STRING);
  for (int i = 0; i < LONG_STRING; i++)
    content[i] = (char)(i % 10 == 9 ? '\n' : '0' + i % 10);
  open_port(&wave, 1, 4, 1); /* write to stream */
  send_word(&wave, file);
  send_string(&wave, content, LONG_STRING);
  assert_int_equal(receive_word(&wave, 0), LONG_STRING);
  open_port(&wave, 0, 18, 1); /* ftell */
  send_word(&wave, file);
  assert_int_equal(receive_word(&wave, 0), LONG_STRING);
  open_port(&wave, 0, 17, 1); /* fseek */
  send_words(&wave, file, 0, SEEK_SET);
  assert_int_equal(receive_word(&wave, 0), 0);
  open_port(&wave, 0, 7, 1); /* fgets */
  send_words(&wave, 64, file, 0);
  receive_strings(&wave, lines, 64, sizes);
  assert_int_equal(sizes[0], 11);
  assert_string_equal(lines, "012345678\n");
  open_port(&wave, 0, 7, 1); /* fgets with less room than the line has */
  send_words(&wave, 5, file, 0);
  receive_strings(&wave, lines, 64, sizes);
  assert_string_equal(lines, "0123");
  open_port(&wave, 0, 20, 1); /* ungetc */
  send_words(&wave, 'x', file, 0);
  assert_int_equal(receive_word(&wave, 0), 'x');
  open_port(&wave, 2, 6, 1); /* read */
  char *back = calloc(1, 2 * LONG_STRING);
  send_words(&wave, 2 * LONG_STRING, file, 0);
  receive_strings(&wave, back, 2 * LONG_STRING, sizes);
  assert_int_equal(sizes[0], LONG_STRING - 14 + 1);
  assert_int_equal(receive_word(&wave, 0), sizes[0]);
  assert_memory_equal(back + 1, content + 14, LONG_STRING - 14);
  assert_int_equal(*back, 'x');
  for (uint16_t opcode = 14; opcode <= 19; opcode++) { /* feof, ferror, clearerr, fseek, ftell, fflush */
    open_port(&wave, 0, opcode, 1);
    send_words(&wave, file, 0, SEEK_END);
    assert_int_equal(receive_word(&wave, 0) != 0, opcode == 14 || opcode == 18);
  }
  open_port(&wave, 0, 9, 1); /* close */
  send_word(&wave, file);
  assert_int_equal(receive_word(&wave, 0), 0);
  free(content);
  free(back);
  end(&wave);
  unlink(name);
}

static void speaks_17(void **state) {
  (void)state;
  wave_t wave;
  char name[] = "/tmp/plugin_rpc.XXXXXX", text[32] = {0};
  int descriptor = mkstemp(name);
  assert_true(descriptor >= 0);
  begin(&wave, 64, ATMI_RPC_LLVM17);
  open_port(&wave, 7, 5, 2);
  send_string(&wave, name, sizeof name);
  send_word(&wave, 'w');
  uint64_t file = receive_word(&wave, 1);
  assert_true(file != 0);
  open_port(&wave, 7, 4, 2);
  send_word(&wave, file);
  send_string(&wave, "seventeen", 9);
  assert_int_equal(receive_word(&wave, 1), 9);
  open_port(&wave, 7, 6, 2);
  send_word(&wave, file);
  assert_int_equal(receive_word(&wave, 1), 0);
  assert_int_equal(read(descriptor, text, sizeof text), 9);
  assert_string_equal(text, "seventeen");
  close(descriptor);
  end(&wave);
  unlink(name);
}

typedef struct served {
  wave_t wave;
  atomic_bool stop;
} served_t;

static void *serve(void *argument) {
  served_t *served = argument;
  while (!atomic_load_explicit(&served->stop, memory_order_relaxed)) {
    atmi_rpc_server_poll(&served->wave.server);
    sched_yield();
  }
  return NULL;
}

/* Gives the packet away, and waits until it comes back. */
static void exchange(const wave_t *wave) {
  uint32_t *inbox = word_at(wave->client.inbox, wave->port),
           *outbox = word_at(wave->client.outbox, wave->port);
  const uint32_t given = __atomic_load_n(outbox, __ATOMIC_RELAXED) ^ 1;
  __atomic_store_n(outbox, given, __ATOMIC_RELEASE);
  while (__atomic_load_n(inbox, __ATOMIC_ACQUIRE) != given)
    sched_yield();
}

/* Device and host at the same time: what each writes is there when the other is told, and by nothing else. */
static void calls_and_answers_arrive_whole(void **state) {
  (void)state;
  enum { ROUNDS = 1000, LANE = 2, MALLOC = 10 };
  static served_t served;
  wave_t *wave = &served.wave;
  pthread_t server;
  begin(wave, 64, ATMI_RPC_LLVM18);
  assert_int_equal(pthread_create(&server, NULL, serve, &served), 0);
  for (uint64_t i = 0; i < ROUNDS; i++) {
    *(uint64_t *)(void *)packet_of(wave) = 1 << LANE;
    *(uint16_t *)(void *)(packet_of(wave) + 8) = MALLOC;
    slot_of(wave, LANE)[0] = 1000 + i;
    exchange(wave);
    assert_int_equal(slot_of(wave, LANE)[0], 0x7000);
    exchange(wave);
  }
  atomic_store(&served.stop, true);
  pthread_join(server, NULL);
  end(wave);
}

static void memory_and_end(void **state) {
  (void)state;
  wave_t wave;
  begin(&wave, 64, ATMI_RPC_LLVM18);
  open_port(&wave, 0, 10, 4);
  send_word(&wave, 1000);
  assert_int_equal(receive_word(&wave, 2), 0x7000);
  assert_int_equal(endings.allocated, 1000);
  open_port(&wave, 0, 11, 4);
  send_word(&wave, 0x7000);
  await(&wave);
  assert_int_equal(endings.released, 0x7000);
  open_port(&wave, 5, 1, 12); /* exit in two lanes: the first one's status counts */
  send_word(&wave, 0);
  receive_begin(&wave);
  assert_int_equal(endings.exits, 0);
  send_words(&wave, 40, 0, 0);
  settle(&wave);
  assert_int_equal(endings.exits, 1);
  assert_int_equal(endings.status, 42);
  open_port(&wave, 6, 13, 1);
  send_word(&wave, 0);
  receive_begin(&wave);
  send_word(&wave, 0);
  settle(&wave);
  assert_int_equal(endings.aborts, 1);
  end(&wave);
}

static void the_tests_of_llvm(void **state) {
  (void)state;
  for (uint64_t flag = 0; flag < 2; flag++) {
    wave_t wave;
    begin(&wave, 64, ATMI_RPC_LLVM18);
    for (int round = 0; round < 3; round++) {
      open_port(&wave, 0, 0x8002, 1);
      send_word(&wave, flag);
      uint64_t count = 0;
      for (const char *step = flag ? "srsrssrrs" : "srsrssrrr"; *step; step++) {
        if (*step == 's')
          send_word(&wave, ++count);
        else
          count = receive_word(&wave, 0);
      }
      assert_int_equal(count, 9);
      settle(&wave);
    }
    open_port(&wave, 0, 0x8003, UINT64_MAX);
    string_t strings[64];
    char *bytes = malloc(64 * 300), *back = malloc(64 * 300);
    uint64_t sizes[64];
    for (int i = 0; i < 64 * 300; i++)
      bytes[i] = (char)(i * 7);
    for (uint32_t lane = 0; lane < 64; lane++)
      strings[lane] = (string_t){bytes + lane * 300, lane * 4};
    send_strings(&wave, strings);
    receive_strings(&wave, back, 300, sizes);
    for (uint32_t lane = 0; lane < 64; lane++) {
      assert_int_equal(sizes[lane], lane * 4);
      assert_memory_equal(back + lane * 300, bytes + lane * 300, lane * 4);
    }
    free(bytes);
    free(back);
    end(&wave);
  }
}

static uint64_t host_call_sum;

static void host_function(void *data) {
  uint64_t word;
  memcpy(&word, data, sizeof word);
  host_call_sum += word;
}

static void calls_the_host(void **state) {
  (void)state;
  wave_t wave;
  begin(&wave, 32, ATMI_RPC_LLVM18);
  uint64_t word = 20;
  open_port(&wave, 0, 12, 0x11);
  send_string(&wave, &word, sizeof word);
  send_word(&wave, (uint64_t)(uintptr_t)host_function);
  receive_word(&wave, 0);
  assert_int_equal(host_call_sum, 40);
  end(&wave);
}

/* ---- hostile calls ---- */

static void unknown_opcodes_are_answered(void **state) {
  (void)state;
  wave_t wave;
  char text[512];
  begin(&wave, 64, ATMI_RPC_LLVM18);
  test_capture_begin();
  for (uint32_t opcode = 21; opcode < 0x8000; opcode += 999) {
    open_port(&wave, 0, (uint16_t)opcode, UINT64_MAX);
    send_word(&wave, 77);
    assert_int_equal(receive_word(&wave, 5), 0);
    send_word(&wave, 77); /* any steps may follow */
    send_word(&wave, 78);
    assert_int_equal(receive_word(&wave, 5), 0);
    assert_int_equal(receive_word(&wave, 5), 0);
  }
  test_capture_end(text, sizeof text);
  assert_non_null(strstr(text, "operation 21"));
  assert_null(strstr(strchr(text, '\n') + 1, "AMDGPU")); /* once */
  assert_true(wave.server.failed);
  end(&wave);
}

static void wild_sizes_are_refused(void **state) {
  (void)state;
  wave_t wave;
  char text[512];
  begin(&wave, 32, ATMI_RPC_LLVM18);
  test_capture_begin();
  catch_begin();
  open_port(&wave, 0, 2, 3);
  send_begin(&wave);
  slot_of(&wave, 0)[0] = UINT64_MAX; /* lane 0 claims everything, lane 1 is honest and must wait for it */
  slot_of(&wave, 1)[0] = 2;
  memcpy(&slot_of(&wave, 1)[1], "ok", 2);
  flip(&wave);
  for (int i = 0; i < 1000; i++) {
    send_begin(&wave);
    flip(&wave);
  }
  /* Meanwhile others are served. */
  open_port(&wave, 1, 10, 1);
  send_word(&wave, 8);
  assert_int_equal(receive_word(&wave, 0), 0x7000);
  catch_end(text, sizeof text);
  assert_string_equal(text, "");
  assert_true(wave.server.stored_bytes < 1 << 20);
  static const struct {
    uint16_t opcode;
    uint64_t a, b;
    uint64_t expected;
  } rows[] = {
      {10, UINT64_MAX, 0, 0},      {6, UINT64_MAX, 0x1230, 0},  {7, UINT64_MAX, 0x1230, 0},
      {17, 0x1230, 0, UINT64_MAX}, {18, 0x1230, 0, UINT64_MAX}, {19, 0x1230, 0, UINT64_MAX},
      {15, 0x1230, 0, 1},          {9, 0x1230, 0, UINT64_MAX},  {20, 'x', 0x1230, UINT64_MAX},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    open_port(&wave, 2, rows[i].opcode, 1);
    send_words(&wave, rows[i].a, rows[i].b, 0);
    assert_int_equal(receive_word(&wave, 0), rows[i].expected);
    if (rows[i].opcode == 6)
      assert_int_equal(receive_word(&wave, 0), 0);
  }
  test_capture_end(text, sizeof text);
  assert_non_null(strstr(text, "a string of 18446744073709551615 bytes"));
  assert_non_null(strstr(text, "file handle 0x1230"));
  end(&wave);
}

static void broken_requests_do_no_harm(void **state) {
  (void)state;
  wave_t wave;
  char text[1024], garbage[64];
  begin(&wave, 32, ATMI_RPC_LLVM18);
  test_capture_begin();
  memset(garbage, 'x', sizeof garbage);
  open_port(&wave, 0, 8, 1); /* a path without an end */
  send_string(&wave, garbage, sizeof garbage);
  send_word(&wave, 'r');
  assert_int_equal(receive_word(&wave, 0), 0);
  open_port(&wave, 0, 8, 1); /* a mode without an end */
  send_string(&wave, "/dev/null", 10);
  send_begin(&wave);
  memset(slot_of(&wave, 0), 'r', 64);
  flip(&wave);
  assert_int_equal(receive_word(&wave, 0), 0);
  open_port(&wave, 0, 11, 1); /* free of what malloc did not return */
  send_word(&wave, 0x1234);
  await(&wave);
  open_port(&wave, 0, 12, 1); /* a call of what is no code */
  send_string(&wave, garbage, 8);
  send_word(&wave, (uint64_t)(uintptr_t)garbage);
  receive_word(&wave, 0);
  open_port(&wave, 0, ATMI_RPC_PRINT, 1); /* a message of nothing but x */
  send_string(&wave, garbage, sizeof garbage);
  assert_int_equal(receive_word(&wave, 0), UINT64_MAX);
  open_port(&wave, 0, 2, 0); /* a call without lanes */
  send_string(&wave, garbage, 8);
  receive_begin(&wave);
  test_capture_end(text, sizeof text);
  assert_non_null(strstr(text, "whose name or mode does not end"));
  assert_non_null(strstr(text, "to free 0x1234"));
  assert_non_null(strstr(text, "where no code is"));
  assert_non_null(strstr(text, "damaged"));
  end(&wave);
}

/* Random words everywhere, all the time: nothing of it may crash, hang or write files. */
static void noise(void **state) {
  (void)state;
  wave_t wave;
  char text[4096];
  begin(&wave, 64, ATMI_RPC_LLVM18);
  wave.server.host.allow_host_calls = false;
  size_t bytes = atmi_rpc_buffer_bytes(PORTS, 64);
  uint64_t seed = 12345;
  test_capture_begin();
  catch_begin();
  for (int round = 0; round < 3000; round++) {
    for (int i = 0; i < 64; i++) {
      seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
      uint64_t value = seed >> 33;
      /* Small numbers often: they get further. */
      ((uint64_t *)wave.buffer)[(seed >> 20) % (bytes / 8)] = value % 3 ? value % 200 : seed;
    }
    for (wave.port = 0; wave.port < PORTS; wave.port++) {
      uint16_t opcode = (uint16_t)((seed >> wave.port) % 24);
      opcode = opcode == 8 || opcode == 1 || opcode == 13 || (seed >> wave.port & 3) == 3
                   ? 0x8000 + opcode % 4
               : opcode >= 22 ? ATMI_RPC_PRINT
                              : opcode;
      if (opcode == 6 || opcode == 7)
        opcode = 5; /* would read the test's stdin */
      memcpy(packet_of(&wave) + 8, &opcode, sizeof opcode);
      *word_at(wave.client.outbox, wave.port) = (uint32_t)(seed >> (wave.port + 8));
    }
    atmi_rpc_server_poll(&wave.server);
  }
  catch_end(text, sizeof text);
  test_capture_end(text, sizeof text);
  end(&wave);
}

/* A wave that stops in the middle of a call holds up nobody; what it had is released with the server. */
static void an_abandoned_call(void **state) {
  (void)state;
  wave_t wave;
  begin(&wave, 64, ATMI_RPC_LLVM18);
  open_port(&wave, 0, 2, UINT64_MAX);
  send_begin(&wave);
  for (uint32_t lane = 0; lane < 64; lane++)
    slot_of(&wave, lane)[0] = 5000;
  flip(&wave);
  settle(&wave);
  open_port(&wave, 1, 0x8001, 1);
  send_word(&wave, 1);
  assert_int_equal(receive_word(&wave, 0), 2);
  end(&wave);
}

/* ---- LLVM 20 and later ---- */

/* Packs arguments as its client on AMD GPUs does, without padding; or else with. */
static uint64_t pack(char *to, bool is_packed, int width, const char *text, double real, int last) {
  char *at = to;
  memcpy(at, &width, 4);
  at += is_packed ? 4 : 8;
  memcpy(at, &text, 8);
  memcpy(at + 8, &real, 8);
  memcpy(at + 16, &last, 4);
  return (uint64_t)(at + 20 - to);
}

/* Each lane prints a string of its own; lanes of odd numbers have two of them, one a null pointer. */
static void print_lanes(wave_t *wave, uint32_t opcode, bool is_packed, uint64_t stream) {
  static const char even[] = "[%*s %.1f %d]\n", odd[] = "[%*s %.1f %d %s %s%%]\n";
  enum { LANES = 64, LANE_BYTES = 64 };
  static char arguments[LANES][LANE_BYTES], texts[LANES][100];
  string_t formats[LANES], packed[LANES], strings[LANES];
  uint64_t mask = 0;
  for (uint32_t lane = 0; lane < wave->lanes; lane += 3)
    mask |= UINT64_C(1) << lane;
  open_port(wave, 3, opcode, mask);
  if (stream)
    send_word(wave, stream);
  for (uint32_t lane = 0; lane < wave->lanes; lane++) {
    memset(texts[lane], 'a' + (int)lane % 26, lane);
    formats[lane] = lane % 2 ? (string_t){odd, sizeof odd} : (string_t){even, sizeof even};
    uint64_t size = pack(arguments[lane], is_packed, (int)lane, texts[lane], lane / 2.0, -(int)lane);
    const char *more[] = {"second", NULL};
    if (lane % 2) {
      size += is_packed ? 0 : 4;
      memcpy(arguments[lane] + size, more, 16);
      size += 16;
    }
    packed[lane] = (string_t){arguments[lane], size};
  }
  send_strings(wave, formats);
  receive_begin(wave);
  for (uint32_t lane = 0; lane < wave->lanes; lane += 3)
    assert_int_equal(slot_of(wave, lane)[0], packed[lane].size);
  send_strings(wave, packed);
  for (;;) {
    bool more = false;
    receive_begin(wave);
    for (uint32_t lane = 0; lane < wave->lanes; lane++) {
      const char *asked = active(wave, lane) ? (const char *)(uintptr_t)slot_of(wave, lane)[1] : NULL;
      strings[lane] = (string_t){asked, asked ? strlen(asked) + 1 : 0};
      more = more || asked;
    }
    if (!more)
      break;
    send_strings(wave, strings);
  }
}

static size_t expect_lanes(uint32_t lanes, char *want, size_t bytes) {
  size_t length = 0;
  for (uint32_t lane = 0; lane < lanes; lane += 3) {
    char text[100] = {0};
    memset(text, 'a' + (int)lane % 26, lane);
    length += (size_t)snprintf(want + length, bytes - length, "[%*s %.1f %d", (int)lane, text, lane / 2.0,
                               -(int)lane);
    length += (size_t)snprintf(want + length, bytes - length, lane % 2 ? " second (null)%%]\n" : "]\n");
  }
  return length;
}

static void prints_as_20_does(void **state) {
  (void)state;
  static const struct {
    uint32_t number, lanes;
    bool is_packed;
    uint64_t stream;
  } rows[] = {{24, 64, true, 0}, {21, 32, false, 0}, {26, 32, true, 2}, {23, 64, false, 2}};
  static char got[32768], want[32768];
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    wave_t wave;
    begin(&wave, rows[i].lanes, ATMI_RPC_LLVM20);
    catch_begin();
    for (int again = 0; again < 2; again++)
      print_lanes(&wave, 0x63000000 + rows[i].number, rows[i].is_packed, rows[i].stream);
    size_t length = expect_lanes(rows[i].lanes, want, sizeof want);
    int64_t result = (int64_t)slot_of(&wave, 0)[0];
    settle(&wave);
    assert_int_equal(catch_end(got, sizeof got), 2 * length);
    assert_memory_equal(got, want, length);
    assert_memory_equal(got + length, want, length);
    assert_int_equal(result, strchr(want, '\n') + 1 - want);
    assert_int_equal(wave.server.stored_bytes < 1 << 20, 1);
    end(&wave);
  }
}

static unsigned long long answer(void *argument) {
  return 3 * *(const uint64_t *)argument;
}

/* What a wave may do wrong while the server waits for its strings. */
static void printing_survives_what_20_should_not_do(void **state) {
  (void)state;
  wave_t wave;
  char text[1024], shorter[] = {1, 2, 3};
  begin(&wave, 32, ATMI_RPC_LLVM20);
  test_capture_begin();
  open_port(&wave, 0, 0x63000018, 1); /* a format without an end */
  send_string(&wave, "%d", 2);
  assert_int_equal(receive_word(&wave, 0), 0);
  send_string(&wave, "", 0);
  assert_int_equal(receive_word(&wave, 0), UINT64_MAX);
  open_port(&wave, 1, 0x63000018, 1); /* other arguments than were asked for */
  send_string(&wave, "%d%s", 5);
  assert_int_equal(receive_word(&wave, 0), 12);
  send_string(&wave, shorter, sizeof shorter);
  assert_int_equal(receive_word(&wave, 0), UINT64_MAX);
  open_port(&wave, 2, 0x63000018, 1); /* no string where one was asked for */
  send_string(&wave, "%s", 3);
  assert_int_equal(receive_word(&wave, 0), 8);
  const char *string = "text";
  send_string(&wave, &string, 8);
  receive_begin(&wave);
  assert_int_equal(slot_of(&wave, 0)[1], (uintptr_t)string);
  send_string(&wave, "", 0);
  assert_int_equal(receive_word(&wave, 0), UINT64_MAX);
  open_port(&wave, 3, 0x63000018, 1); /* left in the middle */
  send_string(&wave, "%s", 3);
  settle(&wave);
  test_capture_end(text, sizeof text);
  assert_non_null(strstr(text, "damaged"));
  end(&wave);
}

/* Functions of the host have results; OpenMP's own opcode and that of libc. */
static void calls_of_20_have_results(void **state) {
  (void)state;
  static const uint32_t opcodes[] = {0x6f000000, 0x6300000c};
  for (size_t i = 0; i < sizeof opcodes / sizeof *opcodes; i++) {
    wave_t wave;
    uint64_t argument = 14 + i;
    begin(&wave, 64, ATMI_RPC_LLVM20);
    open_port(&wave, 7, opcodes[i], 1);
    send_string(&wave, &argument, sizeof argument);
    send_word(&wave, (uint64_t)(uintptr_t)answer);
    assert_int_equal(receive_word(&wave, 0), 3 * argument);
    settle(&wave);
    open_port(&wave, 7, 0x6300000a, 1); /* malloc */
    send_word(&wave, 100);
    assert_int_equal(receive_word(&wave, 0), 0x7000);
    settle(&wave);
    open_port(&wave, 7, 0x6300000b, 1); /* free, for which nobody waits */
    send_word(&wave, 0x7000);
    await(&wave);
    assert_int_equal(endings.released, 0x7000);
    end(&wave);
  }
}

/* The numbers of old opcodes mean nothing to it. */
static void opcodes_of_20_have_letters(void **state) {
  (void)state;
  assert_null(atmi_rpc_find_operation(ATMI_RPC_LLVM20, 2));
  assert_null(atmi_rpc_find_operation(ATMI_RPC_LLVM20, ATMI_RPC_PRINT));
  assert_null(atmi_rpc_find_operation(ATMI_RPC_LLVM20, UINT32_MAX));
  assert_null(atmi_rpc_find_operation(ATMI_RPC_LLVM18, 0x63000002));
  for (uint32_t number = 0; number < 30; number++)
    assert_non_null(atmi_rpc_find_operation(ATMI_RPC_LLVM20, 0x63000000 + number));
  assert_string_equal(atmi_rpc_find_operation(ATMI_RPC_LLVM20, 0x63008000)->name, "test increment");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(layout_is_that_of_the_facts),
      cmocka_unit_test(numbers_are_those_of_the_versions),
      {"writes_each_lane of 32", writes_each_lane, NULL, NULL, (void *)(uintptr_t)32},
      {"writes_each_lane of 64", writes_each_lane, NULL, NULL, (void *)(uintptr_t)64},
      cmocka_unit_test(files_do_what_files_do),
      cmocka_unit_test(speaks_17),
      cmocka_unit_test(memory_and_end),
      cmocka_unit_test(the_tests_of_llvm),
      cmocka_unit_test(calls_the_host),
      cmocka_unit_test(unknown_opcodes_are_answered),
      cmocka_unit_test(wild_sizes_are_refused),
      cmocka_unit_test(broken_requests_do_no_harm),
      cmocka_unit_test(noise),
      cmocka_unit_test(an_abandoned_call),
      cmocka_unit_test(prints_as_20_does),
      cmocka_unit_test(printing_survives_what_20_should_not_do),
      cmocka_unit_test(calls_and_answers_arrive_whole),
      cmocka_unit_test(calls_of_20_have_results),
      cmocka_unit_test(opcodes_of_20_have_letters),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
