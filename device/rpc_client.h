/* The device's end of the mailbox protocol (impl/shared/rpc_protocol.h has the layouts): a wave opens a port,
 * sends and receives slots of 64 bytes per lane, and closes it. All functions are called by all lanes that
 * are active where the port was opened. */
#ifndef RPC_CLIENT_H
#define RPC_CLIENT_H

#include "shared/rpc_protocol.h"

#include <stdbool.h>

typedef struct rpc_port {
  const atmi_rpc_client_t *client;
  uint32_t index;
  uint64_t mask; /* the lanes of this call */
  uint32_t out;  /* what our mailbox holds */
  bool received; /* the last step was a receive */
} rpc_port_t;

/* Waits until a port is free. */
rpc_port_t rpc_open(uint16_t opcode);
void rpc_close(rpc_port_t *port);

/* Each gives this lane's slot, to be filled or read until the next step. */
uint64_t *rpc_send_begin(rpc_port_t *port);
void rpc_send_end(rpc_port_t *port);
const uint64_t *rpc_receive(rpc_port_t *port);

/* One word out, one word back. */
uint64_t rpc_ask(uint16_t opcode, uint64_t word);

/* The lanes for which `condition` holds; the same in all lanes. */
uint64_t rpc_ballot(bool condition);

#endif
