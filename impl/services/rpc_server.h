/* The server of one RPC buffer: takes device code's calls out of the mailboxes, does what they ask for, and
 * answers. It never waits for the device: each port is a small state machine that goes on when its packet
 * comes back, so a wave that stops in the middle of a call holds up nobody else. It trusts nothing that it
 * reads from the buffer. Not here: when it runs (base/service), and how the image learns of the buffer
 * (services/rpc_image). No HSA. */
#ifndef ATMI_SERVICES_RPC_SERVER_H
#define ATMI_SERVICES_RPC_SERVER_H

#include "base/status.h"
#include "services/rpc_file.h"
#include "shared/rpc_protocol.h"

#include <stdbool.h>

/* What the server cannot do by itself. Called from the thread that polls. */
typedef struct atmi_rpc_host {
  void *context;
  /* Memory that device code can use; 0 if there is none. */
  uint64_t (*allocate)(void *context, uint64_t bytes);
  /* Gives it back; false if `address` was not given out. */
  bool (*release)(void *context, uint64_t address);
  /* Device code has called exit or abort. All calls that were waiting have been served. May return; the wave
   * that called it is over. */
  void (*exit)(void *context, int status);
  void (*abort)(void *context);
  /* Whether device code may call functions of the host by address. */
  bool allow_host_calls;
} atmi_rpc_host_t;

/* A lane's part of a call. */
typedef struct atmi_rpc_lane {
  uint64_t words[8];    /* last slot received, then the slot to send */
  unsigned char *bytes; /* byte string received, or to send */
  uint64_t size;        /* of the byte string, as the device claims it or as it is to be sent */
  uint64_t stored;      /* bytes of it that are really there */
  uint64_t capacity;
  bool refused; /* the string was too long, or there was no memory: it was received and thrown away */
  struct atmi_rpc_printing *printing; /* what it prints by pieces, or NULL */
  uint64_t asked;                     /* the string that it was asked for, or 0 */
} atmi_rpc_lane_t;

typedef struct atmi_rpc_printing atmi_rpc_printing_t;
typedef struct atmi_rpc_operation atmi_rpc_operation_t;

/* A port, and the call that goes on in it. */
typedef struct atmi_rpc_port {
  const atmi_rpc_operation_t *operation; /* NULL: idle */
  const char *step;                      /* what comes next in the call */
  atmi_rpc_lane_t *lanes;                /* made when the port is first used */
  uint64_t mask;                         /* lanes of the call */
  uint64_t at, longest;                  /* byte string: position, and length of the longest lane's */
  uint32_t opcode;
  bool received; /* the last step was a receive: the packet has not been given back yet */
} atmi_rpc_port_t;

typedef struct atmi_rpc_server {
  const char *where; /* for messages */
  atmi_rpc_version_t version;
  uint32_t port_count, lane_count;
  _Atomic uint32_t *inbox, *outbox; /* the server's: the client's outbox and inbox */
  /* Of port 0; those of the next port are so many bytes behind. */
  char *headers, *slots;
  size_t header_stride, slot_stride;
  atmi_rpc_port_t *ports;
  /* What our mailboxes hold, since the device could change it there. Apart from the ports, so that a look at
   * all of them touches little memory. */
  uint32_t *given;
  atmi_rpc_host_t host;
  atmi_rpc_files_t files;
  uint64_t stored_bytes; /* of byte strings in all ports */
  uint32_t reported;     /* kinds of bad requests that were described already */
  bool failed;           /* there was an opcode that nobody knows */
  bool wrote;            /* something was written to a standard stream since the last flush */
  enum { ATMI_RPC_GOES_ON, ATMI_RPC_EXITS, ATMI_RPC_ABORTS } ending;
  int exit_status;
} atmi_rpc_server_t;

/* Bytes of a buffer for so many ports. */
size_t atmi_rpc_server_bytes(uint32_t ports, uint32_t lanes, atmi_rpc_version_t version);

/* Serves `buffer` of atmi_rpc_server_bytes(ports, lanes, version) bytes, zeroed and aligned to 64, which must
 * outlive the server. `where` too. Fails with ATMI_NO_MEMORY, described. fini accepts a zeroed server; it
 * closes the files that device code left open. */
ATMI_MUST_CHECK atmi_status_t atmi_rpc_server_init(const char *where, void *buffer, uint32_t ports,
                                                   uint32_t lanes, atmi_rpc_version_t version,
                                                   const atmi_rpc_host_t *host, atmi_rpc_server_t *server);
void atmi_rpc_server_fini(atmi_rpc_server_t *server);

/* The client's object for a buffer that the device sees at `device_buffer`. */
atmi_rpc_client_t atmi_rpc_client_for(uint64_t device_buffer, uint32_t ports, uint32_t lanes);
atmi_rpc_client20_t atmi_rpc_client20_for(uint64_t device_buffer, uint32_t ports);
atmi_rpc_client23_t atmi_rpc_client23_for(uint64_t device_buffer, uint32_t ports, uint32_t lanes);

/* Goes once over all ports and does all that can be done at once. True if anything was done. By one thread at
 * a time. */
bool atmi_rpc_server_poll(atmi_rpc_server_t *server);

/* Makes visible what was written to the standard streams. */
void atmi_rpc_server_flush(atmi_rpc_server_t *server);

/* ---- for the operations ---- */

/* What one lane of a call asks for. */
typedef void (*atmi_rpc_act_t)(atmi_rpc_server_t *server, atmi_rpc_port_t *port, atmi_rpc_lane_t *lane);

/* Where an operation prints: a stream as in atmi_rpc_file_find, or 0 for the one that the client sends. */
typedef struct atmi_rpc_print_to {
  uint8_t stream;
  bool is_packed; /* arguments follow each other without padding */
} atmi_rpc_print_to_t;

/* One opcode. The steps are those of the client, mirrored:
 *   R receive a slot    N receive a byte string    A act    S send a slot    B send a byte string
 *   D deliver what was printed */
struct atmi_rpc_operation {
  char name[22], steps[9];
  atmi_rpc_print_to_t print_to;
  int32_t number17, number18, number20; /* -1: the version does not have it */
  atmi_rpc_act_t act;
};

/* Frees what a lane has of a call that prints; nothing if it has nothing. */
void atmi_rpc_printing_end(atmi_rpc_server_t *server, atmi_rpc_lane_t *lane);

/* The operation of this number, or NULL. */
const atmi_rpc_operation_t *atmi_rpc_find_operation(atmi_rpc_version_t version, uint32_t opcode);

/* Kinds of bad requests; each is described once per server, so that a kernel cannot flood the terminal. */
typedef enum atmi_rpc_offence {
  ATMI_RPC_BAD_OPCODE,
  ATMI_RPC_BAD_SIZE,
  ATMI_RPC_BAD_HANDLE,
  ATMI_RPC_BAD_STRING,
  ATMI_RPC_BAD_FREE,
  ATMI_RPC_BAD_HOST_CALL,
  ATMI_RPC_BAD_MESSAGE,
  ATMI_RPC_BAD_COUNT,
} atmi_rpc_offence_t;
void atmi_rpc_report(atmi_rpc_server_t *server, atmi_rpc_offence_t offence, const char *format, ...)
    ATMI_PRINTF(3, 4);

/* Whether the address is at least in the code of the program or of one of its libraries. */
bool atmi_rpc_is_code(uint64_t address);

/* Room for `bytes` bytes in lane->bytes, keeping what is there. False, and the lane is refused, if that is
 * more than a call may have, or if there is no memory. */
bool atmi_rpc_reserve(atmi_rpc_server_t *server, atmi_rpc_lane_t *lane, uint64_t bytes);

#endif
