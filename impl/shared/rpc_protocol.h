/* The mailbox protocol between device code and its server, as LLVM libc 17 and 18 have it: layouts and
 * numbers. Facts: LLVM libc 18.1.8, src/__support/RPC/rpc.h and include/llvm-libc-types/rpc_opcodes_t.h;
 * sizes and offsets of 17.0.6 are the same. Not here: what the server does with them (services/rpc_server).
 */
#ifndef ATMI_SHARED_RPC_PROTOCOL_H
#define ATMI_SHARED_RPC_PROTOCOL_H

#include <stddef.h>
#include <stdint.h>

enum {
  ATMI_RPC_PORTS = 512, /* the client's lock array has room for so many */
  ATMI_RPC_MAX_LANES = 64,
  ATMI_RPC_SLOT_BYTES = 64, /* of one lane in a packet */
  ATMI_RPC_FIRST_BYTES = 56 /* of a byte string in its first packet, behind its length */
};

/* Each port's packet; the slots of `lanes` lanes follow, then padding to a multiple of 64. */
typedef struct atmi_rpc_header {
  uint64_t mask; /* lanes that take part in the call */
  uint16_t opcode;
  uint16_t padding[3];
} atmi_rpc_header_t;
_Static_assert(sizeof(atmi_rpc_header_t) == 16, "slots begin at byte 16 of a packet");

/* What the image's client must know; the variable of this name points to it. */
#define ATMI_RPC_CLIENT_SYMBOL "__llvm_libc_rpc_client"
/* LLVM 20 and later: another layout and other numbers, under another name. */
#define ATMI_RPC_LATER_CLIENT_SYMBOL "__llvm_rpc_client"
typedef struct atmi_rpc_client {
  uint32_t port_count;
  uint32_t padding;
  uint64_t inbox, outbox; /* as the device addresses them */
  uint64_t packets;
  uint32_t locks[ATMI_RPC_PORTS / 32]; /* which ports are held by a wave */
} atmi_rpc_client_t;
_Static_assert(sizeof(atmi_rpc_client_t) == 96, "the client's object has 96 bytes");

static inline size_t atmi_rpc_packet_bytes(uint32_t lanes) {
  return (sizeof(atmi_rpc_header_t) + (size_t)lanes * ATMI_RPC_SLOT_BYTES + 63) & ~(size_t)63;
}

/* Offset of the packets behind the two arrays of mailboxes. */
static inline size_t atmi_rpc_packets_offset(uint32_t ports) {
  return ((size_t)ports * 2 * sizeof(uint32_t) + 63) & ~(size_t)63;
}

static inline size_t atmi_rpc_buffer_bytes(uint32_t ports, uint32_t lanes) {
  return atmi_rpc_packets_offset(ports) + ports * atmi_rpc_packet_bytes(lanes);
}

/* Which set of opcodes the image's client speaks. */
typedef enum atmi_rpc_version { ATMI_RPC_LLVM17 = 17, ATMI_RPC_LLVM18 = 18 } atmi_rpc_version_t;

/* Opcodes from here on are extensions: the tests of LLVM libc, and those of our own device support library.
 */
enum {
  ATMI_RPC_TEST_NOOP = 0x8000,
  ATMI_RPC_TEST_INCREMENT = 0x8001,
  ATMI_RPC_TEST_INTERFACE = 0x8002,
  ATMI_RPC_TEST_STREAM = 0x8003,
  ATMI_RPC_PRINT = 0x8a00, /* send_n(message of shared/print_message.h) -> recv [0] = what printf returns */
};

#endif
