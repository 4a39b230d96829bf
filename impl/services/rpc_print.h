/* The acts of the operation that prints for LLVM libc 20 and later. */
#ifndef ATMI_SERVICES_RPC_PRINT_H
#define ATMI_SERVICES_RPC_PRINT_H

#include "services/rpc_server.h"

/* After the format, after the arguments, and after each string, of which there may be another one for some
 * lane. */
void atmi_rpc_print_collect(atmi_rpc_server_t *server, atmi_rpc_port_t *port, atmi_rpc_lane_t *lane);
/* Prints, and answers. */
void atmi_rpc_print_deliver(atmi_rpc_server_t *server, atmi_rpc_port_t *port, atmi_rpc_lane_t *lane);

/* Prints a message of shared/print_message.h to the stream that it names. What printf returns. */
int64_t atmi_rpc_print_message(atmi_rpc_server_t *server, const void *message, size_t bytes);

#endif
