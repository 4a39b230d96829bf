/* A freestanding program for amdhsa-loader, with our own client of the RPC protocol: VERSION says whose
 * opcodes it uses, 17 or
 * 18. Its first argument says what it does. */
#include "rpc_client.h"

#include <stddef.h>

#if VERSION == 17
enum { WRITE_STREAM = 4, OPEN = 5, CLOSE = 6, MALLOC = 7, FREE = 8 };
#else
enum { WRITE_STREAM = 4, READ_STREAM = 6, OPEN = 8, CLOSE = 9, MALLOC = 10, FREE = 11, ABORT = 13 };
#endif
enum { EXIT = 1, WRITE_STDOUT = 2, WRITE_STDERR = 3, INCREMENT = 0x8001, STREAM = 0x8003, UNKNOWN = 999 };

/* ---- a very small C library ---- */

static size_t length_of(const char *text) {
  size_t length = 0;
  while (text[length])
    length++;
  return length;
}

static bool equal(const char *left, const char *right) {
  while (*left && *left == *right)
    left++, right++;
  return *left == *right;
}

static int number_of(const char *text) {
  int number = 0;
  for (; *text >= '0' && *text <= '9'; text++)
    number = number * 10 + (*text - '0');
  return number;
}

static char *append(char *to, const char *text) {
  while (*text)
    *to++ = *text++;
  *to = 0;
  return to;
}

static char *append_number(char *to, uint64_t number) {
  char digits[24];
  int count = 0;
  do
    digits[count++] = (char)('0' + number % 10);
  while ((number /= 10));
  while (count)
    *to++ = digits[--count];
  *to = 0;
  return to;
}

/* ---- calls ---- */

static void send_string(rpc_port_t *port, const char *text, size_t bytes) {
  size_t sent = 0;
  do {
    size_t room = sent ? ATMI_RPC_SLOT_BYTES : ATMI_RPC_FIRST_BYTES;
    uint64_t *slot = rpc_send_begin(port);
    char *at = (char *)slot + (sent ? 0 : sizeof *slot);
    if (!sent)
      *slot = bytes;
    for (size_t i = 0; i < room && sent + i < bytes; i++)
      at[i] = text[sent + i];
    rpc_send_end(port);
    sent += room;
  } while (rpc_ballot(sent < bytes));
}

static uint64_t write_to(uint16_t opcode, uint64_t stream, const char *text) {
  rpc_port_t port = rpc_open(opcode);
  if (opcode == WRITE_STREAM) {
    rpc_send_begin(&port)[0] = stream;
    rpc_send_end(&port);
  }
  send_string(&port, text, length_of(text));
  uint64_t written = rpc_receive(&port)[0];
  rpc_close(&port);
  return written;
}

static void say(const char *text) {
  write_to(WRITE_STDOUT, 0, text);
}

/* What is printed before comes when the program ends; this comes at once. */
static void say_running(void) {
  write_to(WRITE_STDERR, 0, "running\n");
}

static uint64_t open_file(const char *path, const char *mode) {
  rpc_port_t port = rpc_open(OPEN);
  send_string(&port, path, length_of(path) + 1);
  append((char *)rpc_send_begin(&port), mode);
  rpc_send_end(&port);
  uint64_t file = rpc_receive(&port)[0];
  rpc_close(&port);
  return file;
}

static void end_with(uint16_t opcode, uint64_t word) {
  rpc_port_t port = rpc_open(opcode);
  rpc_send_begin(&port);
  rpc_send_end(&port);
  rpc_receive(&port);
  rpc_send_begin(&port)[0] = word;
  rpc_send_end(&port);
  __asm__ volatile("s_endpgm");
}

/* A string that is larger in each lane of the widest wave goes to the host and comes back. */
static int echo(void) {
  char text[200];
  uint32_t bytes = 3 * (__builtin_amdgcn_workitem_id_x() % 64);
  for (uint32_t i = 0; i < bytes; i++)
    text[i] = (char)(i * 5 + bytes);
  rpc_port_t port = rpc_open(STREAM);
  send_string(&port, text, bytes);
  uint64_t got = 0, size = 0;
  int failed = 0;
  do {
    const uint64_t *slot = rpc_receive(&port);
    const char *at = (const char *)slot + (got ? 0 : sizeof *slot);
    uint64_t room = got ? ATMI_RPC_SLOT_BYTES : ATMI_RPC_FIRST_BYTES;
    if (!got)
      size = *slot;
    for (uint64_t i = 0; i < room && got + i < bytes; i++)
      failed |= at[i] != text[got + i];
    got += room;
  } while (rpc_ballot(got < size));
  rpc_close(&port);
  return failed || size != bytes;
}

static int use_memory_and_files(const char *path) {
  char *block = (char *)(uintptr_t)rpc_ask(MALLOC, 3000);
  if (!block)
    return 1;
  for (int i = 0; i < 2999; i++)
    block[i] = (char)('a' + i % 26);
  block[2999] = 0;
  uint64_t file = open_file(path, "w");
  if (!file || write_to(WRITE_STREAM, file, block) != 2999 || rpc_ask(CLOSE, file))
    return 2;
  rpc_port_t port = rpc_open(FREE);
  rpc_send_begin(&port)[0] = (uint64_t)(uintptr_t)block;
  rpc_send_end(&port);
  rpc_close(&port);
  return open_file("/nonexistent/file", "r") != 0;
}

/* What LLVM libc's clock divides by. */
__attribute__((visibility("protected"))) volatile uint64_t __llvm_libc_clock_freq;

/* gfx11 asks for the time by a message, and has no instruction of its own. */
#if defined(__gfx1100__)
enum { GET_REALTIME = 0x83 };
#define REAL_TIME() __builtin_amdgcn_s_sendmsg_rtnl(GET_REALTIME)
#else
#define REAL_TIME() __builtin_amdgcn_s_memrealtime()
#endif

/* The frequency, and a line before and after two seconds of it. */
static void measure_clock(void) {
  char line[64];
  append(append_number(line, __llvm_libc_clock_freq), " Hz\n");
  say(line);
  uint64_t end = REAL_TIME() + 2 * __llvm_libc_clock_freq;
  while (REAL_TIME() < end)
    __builtin_amdgcn_s_sleep(1);
  say("end\n");
}

static void say_arguments(int argc, char **argv, char **envp) {
  char line[512];
  for (int i = 0; i < argc; i++)
    append(append(line, argv[i]), "\n"), say(line);
  for (; *envp; envp++)
    if ((*envp)[0] == 'M' && (*envp)[1] == 'Y')
      append(append(line, *envp), "\n"), say(line);
  say(argv[argc] ? "argv does not end\n" : "end\n");
}

/* How many arguments and variables there are, and how long they are together. */
static void say_lengths(int argc, char **argv, char **envp) {
  char line[128], *at;
  uint64_t bytes = 0, variables = 0;
  for (int i = 1; i < argc; i++)
    bytes += length_of(argv[i]);
  while (envp[variables])
    variables++;
  at = append(append_number(line, (uint64_t)argc), " arguments of ");
  at = append(append_number(at, bytes), " bytes, ");
  append(append_number(at, variables), " variables\n");
  say(line);
}

/* One line per thread, with its place by the dispatch packet and the hidden arguments. */
static void say_place(void) {
  char line[128], *at = append(line, "block");
  at = append_number(append(at, " "), __builtin_amdgcn_workgroup_id_x());
  at = append_number(append(at, " "), __builtin_amdgcn_workgroup_id_y());
  at = append_number(append(at, " "), __builtin_amdgcn_workgroup_id_z());
  at = append_number(append(at, " thread "), __builtin_amdgcn_workitem_id_x());
  at = append_number(append(at, " "), __builtin_amdgcn_workitem_id_y());
  at = append_number(append(at, " "), __builtin_amdgcn_workitem_id_z());
  at = append_number(append(at, " of "), __builtin_amdgcn_workgroup_size_x());
  append(at, "\n");
  say(line);
}

static int run(int argc, char **argv, char **envp) {
  const char *what = argc > 1 ? argv[1] : "";
  if (equal(what, "return"))
    return number_of(argv[2]);
  if (equal(what, "exit"))
    end_with(EXIT, (uint64_t)number_of(argv[2]));
#if VERSION == 18
  if (equal(what, "abort"))
    say("before\n"), end_with(ABORT, 0);
#endif
#if VERSION == 18
  if (equal(what, "read")) {
    say("before\n");
    say_running();
    rpc_port_t port = rpc_open(READ_STREAM);
    uint64_t *words = rpc_send_begin(&port);
    words[0] = 1;
    words[1] = 1; /* of standard input */
    rpc_send_end(&port);
    rpc_receive(&port); /* a byte at most */
    int read = (int)rpc_receive(&port)[0];
    rpc_close(&port);
    return 40 + read;
  }
#endif
  if (equal(what, "trap"))
    __builtin_trap();
  if (equal(what, "fault"))
    *(volatile int *)(uintptr_t)0x123450000 = 1;
  if (equal(what, "hang"))
    for (say("before\n"), say_running();;)
      __builtin_amdgcn_s_sleep(10);
  if (equal(what, "unknown"))
    return (int)rpc_ask(UNKNOWN, 5);
  if (equal(what, "echo"))
    return echo() || rpc_ask(INCREMENT, 41) != 42;
  if (equal(what, "files"))
    return use_memory_and_files(argv[2]);
  if (equal(what, "arguments"))
    say_arguments(argc, argv, envp);
  if (equal(what, "clock"))
    measure_clock();
  if (equal(what, "length"))
    say_lengths(argc, argv, envp);
  if (equal(what, "places"))
    say_place();
  if (equal(what, "stderr"))
    write_to(WRITE_STDERR, 0, "error\n");
  return 0;
}

/* ---- the kernels ---- */

#define KERNEL __attribute__((amdgpu_kernel, visibility("protected"))) void

KERNEL _begin(int argc, char **argv, char **envp
#if VERSION == 17
              ,
              char *buffer
#endif
);
KERNEL _start(int argc, char **argv, char **envp, int *result);
KERNEL _end(int status);

#if VERSION == 17
/* 17's client is given the buffer and makes the rest itself. */
KERNEL _begin(int argc, char **argv, char **envp, char *buffer) {
  (void)argc;
  (void)argv;
  (void)envp;
  extern void *__llvm_libc_rpc_client;
  atmi_rpc_client_t *client = __llvm_libc_rpc_client;
  client->port_count = ATMI_RPC_PORTS;
  client->inbox = (uint64_t)(uintptr_t)buffer;
  client->outbox = client->inbox + ATMI_RPC_PORTS * sizeof(uint32_t);
  client->packets = client->inbox + atmi_rpc_packets_offset(ATMI_RPC_PORTS);
}
#else
KERNEL _begin(int argc, char **argv, char **envp) {
  (void)argv;
  (void)envp;
  if (argc < 1)
    __builtin_trap();
}
#endif

KERNEL _start(int argc, char **argv, char **envp, int *result) {
  __atomic_fetch_or(result, run(argc, argv, envp), __ATOMIC_RELAXED);
}

KERNEL _end(int status) {
  end_with(EXIT, (uint32_t)status);
}
