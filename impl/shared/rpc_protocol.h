/* The mailbox protocol between device code and its server, as LLVM libc 17 to 19 have it, and 20 to 23:
 * layouts and numbers. Facts: LLVM libc 18.1.8, src/__support/RPC/rpc.h and
 * include/llvm-libc-types/rpc_opcodes_t.h; sizes and offsets of 17.0.6 are the same; LLVM 22.1,
 * libc/shared/rpc.h and rpc_opcodes.h. Not here: what the server does with them (services/rpc_server).
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
typedef struct atmi_rpc_client {
  uint32_t port_count;
  uint32_t padding;
  uint64_t inbox, outbox; /* as the device addresses them */
  uint64_t packets;
  uint32_t locks[ATMI_RPC_PORTS / 32]; /* which ports are held by a wave */
} atmi_rpc_client_t;
_Static_assert(sizeof(atmi_rpc_client_t) == 96, "the client's object has 96 bytes");

/* LLVM 20 and later: the variable of this name is the object. Behind the mailboxes, headers of all ports come
 * first, with opcodes of 32 bits, and then the slots. */
#define ATMI_RPC_CLIENT20_SYMBOL "__llvm_rpc_client"
enum { ATMI_RPC_MAX_PORTS20 = 4096 };
typedef struct atmi_rpc_client20 {
  uint32_t port_count;
  uint32_t padding;
  uint64_t inbox, outbox, headers, slots; /* as the device addresses them */
  uint32_t locks[ATMI_RPC_MAX_PORTS20 / 32];
} atmi_rpc_client20_t;
_Static_assert(sizeof(atmi_rpc_client20_t) == 552, "the client's object has 552 bytes");

/* LLVM 23: the same with more locks, and with a doorbell, of which device code reads the first word before
 * each call. It is null: nobody is to be woken, the server looks by itself. Facts: LLVM 23.1,
 * libc/shared/rpc.h. */
enum { ATMI_RPC_MAX_PORTS23 = 16384, ATMI_RPC_DOORBELL_BYTES = 64 };
typedef struct atmi_rpc_client23 {
  uint32_t port_count;
  uint32_t padding;
  uint64_t doorbell, inbox, outbox, headers, slots; /* as the device addresses them */
  uint32_t locks[ATMI_RPC_MAX_PORTS23 / 32];
} atmi_rpc_client23_t;
_Static_assert(sizeof(atmi_rpc_client23_t) == 2096, "the client's object has 2096 bytes");

typedef struct atmi_rpc_header20 {
  uint64_t mask;
  uint32_t opcode;
  uint32_t padding;
} atmi_rpc_header20_t;

static inline size_t atmi_rpc_headers20_offset(uint32_t ports) {
  return (size_t)ports * 2 * sizeof(uint32_t);
}

static inline size_t atmi_rpc_slots20_offset(uint32_t ports) {
  return atmi_rpc_headers20_offset(ports) + ports * sizeof(atmi_rpc_header20_t);
}

/* Behind the slots; device code of 20 to 22 knows of no doorbell. */
static inline size_t atmi_rpc_doorbell20_offset(uint32_t ports, uint32_t lanes) {
  return atmi_rpc_slots20_offset(ports) + (size_t)ports * lanes * ATMI_RPC_SLOT_BYTES;
}

static inline size_t atmi_rpc_buffer20_bytes(uint32_t ports, uint32_t lanes) {
  return atmi_rpc_doorbell20_offset(ports, lanes) + ATMI_RPC_DOORBELL_BYTES;
}

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
typedef enum atmi_rpc_version {
  ATMI_RPC_LLVM17 = 17,
  ATMI_RPC_LLVM18 = 18, /* and 19 */
  ATMI_RPC_LLVM20 = 20, /* to 23 */
} atmi_rpc_version_t;

/* Opcodes of 20 and later have a letter in front, which says whose they are. */
#define ATMI_RPC_OF_LIBC(number)   (0x63000000 | (number))
#define ATMI_RPC_OF_OPENMP(number) (0x6f000000 | (number))

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
