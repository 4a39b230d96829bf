/* An image whose code calls its host: the shared buffer, the server behind it, and the client's object in the
 * image. */
#ifndef ATMI_SERVICES_RPC_IMAGE_H
#define ATMI_SERVICES_RPC_IMAGE_H

#include "device/code_object.h"
#include "shared/rpc_protocol.h"

#include <stdbool.h>

typedef struct atmi_rpc_image atmi_rpc_image_t;

typedef struct atmi_rpc_options {
  int version;           /* ATMI_RPC_LLVM17 or ATMI_RPC_LLVM18; 0: as the image looks */
  bool allow_host_calls; /* device code was given addresses of host functions by the same program */
  /* Called when device code calls exit, from the thread that serves; if it returns, the process goes on. May
   * be NULL. */
  void (*on_exit)(void *context, int status);
  void *context;
} atmi_rpc_options_t;

/* The version of the protocol that the image's client speaks: 20 if its client has that name; 17 if its
 * start-up kernel takes the shared buffer as an argument, or if it has no such kernel, its OpenMP device
 * runtime is that of 17, and this project's device support library is not in it; else 18. */
atmi_rpc_version_t atmi_rpc_detect_version(const atmi_code_object_t *object);

/* Whether this project's device support library is in the image: its code takes memory from the host. */
bool atmi_rpc_image_has_library(const atmi_code_object_t *object);

/* If the image has a client, sets up all that it needs, and notes it in the code object; kernels found
 * afterwards are served. Costs one look-up if it has none. Device code that calls exit ends the process with
 * exit(status), abort with abort(), from the thread that serves. Fails, described; nobody serves the image
 * then.
 */
ATMI_MUST_CHECK atmi_status_t atmi_rpc_image_attach(atmi_code_object_t *object,
                                                    const atmi_rpc_options_t *options);
/* What atmi_rpc_image_attach has set up, or NULL. It ends with the code object. */
atmi_rpc_image_t *atmi_rpc_image_of(const atmi_code_object_t *object);

/* The shared buffer as the device sees it, for a client of 17 that is given it as an argument. */
void *atmi_rpc_image_buffer(const atmi_rpc_image_t *image);

/* Whether device code asked for something that nobody knows, and so cannot have worked. */
bool atmi_rpc_image_failed(atmi_rpc_image_t *image);

#endif
