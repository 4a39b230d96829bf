/* What each opcode does, as one table, and the acts behind it. Results follow the clients of LLVM libc 17.0.6
 * and 18.1.8 (src/stdio/gpu, src/stdlib/gpu, src/gpu) and what the host's own functions return. */
#include "services/rpc_server.h"

#include "services/print.h"
#include "services/rpc_print.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES = 64 << 10 };

/* ---- streams ---- */

static FILE *find_stream(atmi_rpc_server_t *server, uint64_t handle) {
  FILE *stream = atmi_rpc_file_find(&server->files, handle);
  if (!stream)
    atmi_rpc_report(server, ATMI_RPC_BAD_HANDLE, "file handle 0x%llx, which is not that of an open file",
                    (unsigned long long)handle);
  return stream;
}

static void note_write(atmi_rpc_server_t *server, const FILE *stream) {
  if (stream == stdout || stream == stderr)
    server->wrote = true;
}

/* Writes a lane's string, and a newline if `line`, as one piece. */
static void write_to(atmi_rpc_server_t *server, FILE *stream, atmi_rpc_lane_t *lane, bool line) {
  uint64_t written = 0;
  if (stream && !lane->refused) {
    flockfile(stream);
    if (lane->stored)
      written = fwrite_unlocked(lane->bytes, 1, (size_t)lane->stored, stream);
    if (line && written == lane->stored)
      written += fwrite_unlocked("\n", 1, 1, stream);
    funlockfile(stream);
    note_write(server, stream);
  }
  lane->words[0] = written;
}

static void write_stdout(atmi_rpc_server_t *server, atmi_rpc_port_t *port, atmi_rpc_lane_t *lane) {
  (void)port;
  write_to(server, stdout, lane, false);
}

static void write_stderr(atmi_rpc_server_t *server, atmi_rpc_port_t *port, atmi_rpc_lane_t *lane) {
  (void)port;
  write_to(server, stderr, lane, false);
}

static void write_line(atmi_rpc_server_t *server, atmi_rpc_port_t *port, atmi_rpc_lane_t *lane) {
  (void)port;
  write_to(server, stdout, lane, true);
}

static void write_stream(atmi_rpc_server_t *server, atmi_rpc_port_t *port, atmi_rpc_lane_t *lane) {
  (void)port;
  write_to(server, find_stream(server, lane->words[0]), lane, false);
}

/* Memory is taken as the bytes come, not as the device claims to want them. */
static void read_stream(atmi_rpc_server_t *server, atmi_rpc_port_t *port, atmi_rpc_lane_t *lane) {
  (void)port;
  uint64_t wanted = lane->words[0];
  FILE *stream = find_stream(server, lane->words[1]);
  while (stream && lane->size < wanted) {
    uint64_t left = wanted - lane->size, piece = left < CHUNK_BYTES ? left : CHUNK_BYTES;
    if (!atmi_rpc_reserve(server, lane, lane->size + piece))
      break;
    size_t got = fread(lane->bytes + lane->size, 1, (size_t)piece, stream);
    lane->size += got;
    if (got < piece)
      break;
  }
  lane->words[0] = lane->size;
}

/* One line, or as much as fits a buffer of so many bytes; with its NUL. Nothing at the end of the file. */
static void read_line(atmi_rpc_server_t *server, atmi_rpc_port_t *port, atmi_rpc_lane_t *lane) {
  (void)port;
  uint64_t room = lane->words[0];
  FILE *stream = find_stream(server, lane->words[1]);
  int c = 0;
  uint64_t length = 0;
  if (!stream || !room || room > INT32_MAX)
    return;
  flockfile(stream);
  while (length + 1 < room && atmi_rpc_reserve(server, lane, length + 2) && c != '\n' &&
         (c = getc_unlocked(stream)) != EOF)
    lane->bytes[length++] = (unsigned char)c;
  bool failed = c == EOF && (!length || ferror_unlocked(stream));
  funlockfile(stream);
  if (failed || !atmi_rpc_reserve(server, lane, length + 1))
    return;
  lane->bytes[length] = 0;
  lane->size = length + 1;
}

/* ---- files ---- */

static void open_file(atmi_rpc_server_t *server, atmi_rpc_port_t *port, atmi_rpc_lane_t *lane) {
  (void)port;
  const char *mode = (const char *)lane->words;
  uint64_t handle = 0;
  if (lane->refused || !lane->stored || lane->bytes[lane->stored - 1] || !memchr(mode, 0, sizeof lane->words))
    atmi_rpc_report(server, ATMI_RPC_BAD_STRING, "to open a file whose name or mode does not end");
  else
    handle = atmi_rpc_file_open(&server->files, (const char *)lane->bytes, mode);
  lane->words[0] = handle;
}

static void close_file(atmi_rpc_server_t *server, atmi_rpc_port_t *port, atmi_rpc_lane_t *lane) {
  (void)port;
  uint64_t handle = lane->words[0];
  lane->words[0] =
      (uint64_t)(find_stream(server, handle) ? atmi_rpc_file_close(&server->files, handle) : EOF);
}

/* A string that ends, or NULL. */
static const char *text_of(atmi_rpc_server_t *server, const atmi_rpc_lane_t *lane) {
  if (!lane->refused && lane->stored && !lane->bytes[lane->stored - 1])
    return (const char *)lane->bytes;
  atmi_rpc_report(server, ATMI_RPC_BAD_STRING, "something with a name, or a command, that does not end");
  return NULL;
}

static void remove_file(atmi_rpc_server_t *server, atmi_rpc_port_t *port, atmi_rpc_lane_t *lane) {
  (void)port;
  const char *path = text_of(server, lane);
  lane->words[0] = (uint64_t)(path ? remove(path) : -1);
}

/* The second path has taken the first one's place: only device code could have kept it. */
static void refuse_rename(atmi_rpc_server_t *server, atmi_rpc_port_t *port, atmi_rpc_lane_t *lane) {
  (void)port;
  atmi_rpc_report(server, ATMI_RPC_BAD_STRING, "to rename a file, which is not served; do it on the host");
  lane->words[0] = UINT64_MAX;
}

static void run_command(atmi_rpc_server_t *server, atmi_rpc_port_t *port, atmi_rpc_lane_t *lane) {
  (void)port;
  const char *command = server->host.allow_host_calls ? text_of(server, lane) : NULL;
  fflush(stdout);
  /* NOLINTNEXTLINE(cert-env33-c): this is what the program has asked for, and who runs it has allowed */
  lane->words[0] = (uint64_t)(long)(command ? system(command) : -1);
}

/* feof, ferror, clearerr, ftell and fflush: a stream in, a number out. */
static void ask_stream(atmi_rpc_server_t *server, atmi_rpc_port_t *port, atmi_rpc_lane_t *lane) {
  enum { FEOF = 14, FERROR = 15, CLEARERR = 16, FTELL = 18, FFLUSH = 19 };
  int number = port->operation->number18;
  if (number == FFLUSH && !lane->words[0]) { /* fflush(NULL) */
    lane->words[0] = (uint64_t)atmi_rpc_files_flush(&server->files);
    return;
  }
  FILE *stream = find_stream(server, lane->words[0]);
  long result = number == FTELL || number == FFLUSH ? EOF : number == FERROR;
  if (stream)
    switch (number) {
    case FEOF: result = feof(stream); break;
    case FERROR: result = ferror(stream); break;
    case CLEARERR: clearerr(stream); break;
    case FTELL: result = ftell(stream); break;
    case FFLUSH: result = fflush(stream); break;
    }
  lane->words[0] = (uint64_t)result;
}

static void seek(atmi_rpc_server_t *server, atmi_rpc_port_t *port, atmi_rpc_lane_t *lane) {
  (void)port;
  FILE *stream = find_stream(server, lane->words[0]);
  lane->words[0] =
      (uint64_t)(long)(stream ? fseek(stream, (long)lane->words[1], (int)(uint32_t)lane->words[2]) : EOF);
}

/* ungetc is for input. Where the last operation was output, glibc 2.36 damages its heap, so that one is ended
 * first; where that cannot be done, nothing is pushed back. */
static bool can_unget(FILE *stream) {
  return __freadable(stream) && (!__fwriting(stream) || !fseek(stream, 0, SEEK_CUR));
}

static void unget(atmi_rpc_server_t *server, atmi_rpc_port_t *port, atmi_rpc_lane_t *lane) {
  (void)port;
  FILE *stream = find_stream(server, lane->words[1]);
  if (stream && !can_unget(stream))
    stream = NULL;
  lane->words[0] = (uint64_t)(long)(stream ? ungetc((int)(uint32_t)lane->words[0], stream) : EOF);
}

/* ---- the process ---- */

static void exit_process(atmi_rpc_server_t *server, atmi_rpc_port_t *port, atmi_rpc_lane_t *lane) {
  (void)port;
  if (server->ending == ATMI_RPC_GOES_ON)
    server->exit_status = (int)(uint32_t)lane->words[0];
  server->ending = server->ending == ATMI_RPC_GOES_ON ? ATMI_RPC_EXITS : server->ending;
}

static void abort_process(atmi_rpc_server_t *server, atmi_rpc_port_t *port, atmi_rpc_lane_t *lane) {
  (void)port;
  (void)lane;
  server->ending = server->ending == ATMI_RPC_GOES_ON ? ATMI_RPC_ABORTS : server->ending;
}

static void allocate(atmi_rpc_server_t *server, atmi_rpc_port_t *port, atmi_rpc_lane_t *lane) {
  (void)port;
  lane->words[0] = server->host.allocate(server->host.context, lane->words[0]);
}

static void release(atmi_rpc_server_t *server, atmi_rpc_port_t *port, atmi_rpc_lane_t *lane) {
  (void)port;
  if (lane->words[0] && !server->host.release(server->host.context, lane->words[0]))
    atmi_rpc_report(server, ATMI_RPC_BAD_FREE,
                    "to free 0x%llx, which malloc did not return or which is free already",
                    (unsigned long long)lane->words[0]);
}

typedef struct code_search {
  uintptr_t address;
  bool found;
} code_search_t;

static int visit_object(struct dl_phdr_info *object, size_t bytes, void *data) {
  (void)bytes;
  code_search_t *search = data;
  for (size_t i = 0; i < object->dlpi_phnum && !search->found; i++) {
    const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
    uintptr_t begin = object->dlpi_addr + segment->p_vaddr;
    search->found = segment->p_type == PT_LOAD && segment->p_flags & PF_X && search->address >= begin &&
                    search->address - begin < segment->p_memsz;
  }
  return search->found;
}

bool atmi_rpc_is_code(uint64_t address) {
  code_search_t search = {.address = (uintptr_t)address};
  dl_iterate_phdr(visit_object, &search);
  return search.found;
}

static bool may_call(atmi_rpc_server_t *server, const atmi_rpc_lane_t *lane) {
  if (server->host.allow_host_calls && !lane->refused && atmi_rpc_is_code(lane->words[0]))
    return true;
  atmi_rpc_report(server, ATMI_RPC_BAD_HOST_CALL, "to call a function of the host at 0x%llx, %s",
                  (unsigned long long)lane->words[0],
                  server->host.allow_host_calls ? "where no code is" : "which is not allowed here");
  return false;
}

/* Of 20 and later: the function has a result. */
static void ask_host(atmi_rpc_server_t *server, atmi_rpc_port_t *port, atmi_rpc_lane_t *lane) {
  (void)port;
  bool may = may_call(server, lane);
  unsigned long long (*function)(void *) = (unsigned long long (*)(void *))(uintptr_t)lane->words[0];
  lane->words[0] = may ? function(lane->bytes) : 0;
}

static void call_host(atmi_rpc_server_t *server, atmi_rpc_port_t *port, atmi_rpc_lane_t *lane) {
  (void)port;
  if (!may_call(server, lane))
    return;
  void (*function)(void *) = (void (*)(void *))(uintptr_t)lane->words[0];
  function(lane->bytes);
}

/* ---- printing ---- */

int64_t atmi_rpc_print_message(atmi_rpc_server_t *server, const void *message, size_t bytes) {
  int64_t result = -1;
  uint64_t handle;
  if (atmi_print_stream(message, bytes, &handle)) {
    FILE *stream = find_stream(server, handle);
    if (stream) {
      bool stored_nothing = false;
      result = atmi_print(message, bytes, stream, &stored_nothing);
      if (stored_nothing)
        atmi_rpc_report(server, ATMI_RPC_BAD_COUNT,
                        "to store the number of characters for %%n, which only device code itself could; the "
                        "variable keeps its value, use what printf returns");
      note_write(server, stream);
    }
  } else {
    atmi_rpc_report(server, ATMI_RPC_BAD_MESSAGE, "to print a message that is damaged");
  }
  return result;
}

static void print(atmi_rpc_server_t *server, atmi_rpc_port_t *port, atmi_rpc_lane_t *lane) {
  (void)port;
  lane->words[0] =
      (uint64_t)atmi_rpc_print_message(server, lane->bytes, lane->refused ? 0 : (size_t)lane->stored);
}

/* Of operations that print nothing. */
#define NOWHERE                                                                                              \
  { 0, false }

/* ---- tests of LLVM libc ---- */

static void increment(atmi_rpc_server_t *server, atmi_rpc_port_t *port, atmi_rpc_lane_t *lane) {
  (void)server;
  (void)port;
  lane->words[0]++;
}

/* Sends and receives in all orders; the first word says whether the last one is a receive. Each lane comes
 * here with the same word. */
static void choose_interface(atmi_rpc_server_t *server, atmi_rpc_port_t *port, atmi_rpc_lane_t *lane) {
  (void)server;
  static const atmi_rpc_operation_t rest = {"interface", "", NOWHERE, -1, -1, -1, increment};
  port->operation = &rest;
  port->step = lane->words[0] ? "RASRASRRASASR" : "RASRASRRASASAS";
}

static void echo(atmi_rpc_server_t *server, atmi_rpc_port_t *port, atmi_rpc_lane_t *lane) {
  (void)server;
  (void)port;
  /* A string that could not be kept comes back empty. */
  lane->size = lane->stored;
}

static void nothing(atmi_rpc_server_t *server, atmi_rpc_port_t *port, atmi_rpc_lane_t *lane) {
  (void)server;
  (void)port;
  (void)lane;
}

/* ---- the table ---- */

#define PRINT_STEPS "NASNADS"
enum { STDOUT = 2, STDERR = 3 };

static const atmi_rpc_operation_t table[] = {
    {"noop", "R", NOWHERE, 0, 0, ATMI_RPC_OF_LIBC(0), nothing},
    {"exit", "RSRA", NOWHERE, 1, 1, ATMI_RPC_OF_LIBC(1), exit_process},
    {"write to stdout", "NAS", NOWHERE, 2, 2, ATMI_RPC_OF_LIBC(2), write_stdout},
    {"write to stderr", "NAS", NOWHERE, 3, 3, ATMI_RPC_OF_LIBC(3), write_stderr},
    {"write to stream", "RNAS", NOWHERE, 4, 4, ATMI_RPC_OF_LIBC(4), write_stream},
    {"write line to stdout", "NAS", NOWHERE, -1, 5, ATMI_RPC_OF_LIBC(5), write_line},
    {"read from stream", "RABS", NOWHERE, -1, 6, ATMI_RPC_OF_LIBC(6), read_stream},
    {"fgets", "RAB", NOWHERE, -1, 7, ATMI_RPC_OF_LIBC(7), read_line},
    {"open", "NRAS", NOWHERE, 5, 8, ATMI_RPC_OF_LIBC(8), open_file},
    {"close", "RAS", NOWHERE, 6, 9, ATMI_RPC_OF_LIBC(9), close_file},
    {"malloc", "RAS", NOWHERE, 7, 10, ATMI_RPC_OF_LIBC(10), allocate},
    {"free", "RA", NOWHERE, 8, 11, ATMI_RPC_OF_LIBC(11), release},
    {"host call", "NRAS", NOWHERE, 9, 12, -1, call_host},
    {"abort", "RSRA", NOWHERE, -1, 13, ATMI_RPC_OF_LIBC(13), abort_process},
    {"feof", "RAS", NOWHERE, -1, 14, ATMI_RPC_OF_LIBC(14), ask_stream},
    {"ferror", "RAS", NOWHERE, -1, 15, ATMI_RPC_OF_LIBC(15), ask_stream},
    {"clearerr", "RAS", NOWHERE, -1, 16, ATMI_RPC_OF_LIBC(16), ask_stream},
    {"fseek", "RAS", NOWHERE, -1, 17, ATMI_RPC_OF_LIBC(17), seek},
    {"ftell", "RAS", NOWHERE, -1, 18, ATMI_RPC_OF_LIBC(18), ask_stream},
    {"fflush", "RAS", NOWHERE, -1, 19, ATMI_RPC_OF_LIBC(19), ask_stream},
    {"ungetc", "RAS", NOWHERE, -1, 20, ATMI_RPC_OF_LIBC(20), unget},
    {"test noop", "R", NOWHERE, ATMI_RPC_TEST_NOOP, ATMI_RPC_TEST_NOOP, -1, nothing},
    {"test increment", "RAS", NOWHERE, ATMI_RPC_TEST_INCREMENT, ATMI_RPC_TEST_INCREMENT,
     ATMI_RPC_OF_LIBC(ATMI_RPC_TEST_INCREMENT - 1), increment},
    {"test interface", "RA", NOWHERE, ATMI_RPC_TEST_INTERFACE, ATMI_RPC_TEST_INTERFACE,
     ATMI_RPC_OF_LIBC(ATMI_RPC_TEST_INTERFACE - 1), choose_interface},
    {"test stream", "NAB", NOWHERE, ATMI_RPC_TEST_STREAM, ATMI_RPC_TEST_STREAM,
     ATMI_RPC_OF_LIBC(ATMI_RPC_TEST_STREAM - 1), echo},
    {"print", "NAS", NOWHERE, ATMI_RPC_PRINT, ATMI_RPC_PRINT, -1, print},
    {"host call", "NRAS", NOWHERE, -1, -1, ATMI_RPC_OF_LIBC(12), ask_host},
    {"host call", "NRAS", NOWHERE, -1, -1, ATMI_RPC_OF_OPENMP(0), ask_host},
    {"printf", PRINT_STEPS, {STDOUT, false}, -1, -1, ATMI_RPC_OF_LIBC(21), atmi_rpc_print_collect},
    {"printf to stderr", PRINT_STEPS, {STDERR, false}, -1, -1, ATMI_RPC_OF_LIBC(22), atmi_rpc_print_collect},
    {"fprintf", "R" PRINT_STEPS, {0, false}, -1, -1, ATMI_RPC_OF_LIBC(23), atmi_rpc_print_collect},
    {"printf", PRINT_STEPS, {STDOUT, true}, -1, -1, ATMI_RPC_OF_LIBC(24), atmi_rpc_print_collect},
    {"printf to stderr", PRINT_STEPS, {STDERR, true}, -1, -1, ATMI_RPC_OF_LIBC(25), atmi_rpc_print_collect},
    {"fprintf", "R" PRINT_STEPS, {0, true}, -1, -1, ATMI_RPC_OF_LIBC(26), atmi_rpc_print_collect},
    {"remove", "NAS", NOWHERE, -1, -1, ATMI_RPC_OF_LIBC(27), remove_file},
    {"rename", "NNAS", NOWHERE, -1, -1, ATMI_RPC_OF_LIBC(28), refuse_rename},
    {"system", "NAS", NOWHERE, -1, -1, ATMI_RPC_OF_LIBC(29), run_command},
};

const atmi_rpc_operation_t *atmi_rpc_find_operation(atmi_rpc_version_t version, uint32_t opcode) {
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    const atmi_rpc_operation_t *operation = &table[i];
    int64_t number = version == ATMI_RPC_LLVM17   ? operation->number17
                     : version == ATMI_RPC_LLVM18 ? operation->number18
                                                  : operation->number20;
    if (number == opcode)
      return operation;
  }
  return NULL;
}
