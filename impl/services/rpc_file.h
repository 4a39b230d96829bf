/* Files that device code opens. It gets handles, never the host's pointers, so whatever it passes back can be
 * checked.
 */
#ifndef ATMI_SERVICES_RPC_FILE_H
#define ATMI_SERVICES_RPC_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct atmi_rpc_files {
  struct atmi_rpc_file *slots;
  uint32_t count;
} atmi_rpc_files_t;

/* Closes what is still open. Accepts a zeroed object. */
void atmi_rpc_files_fini(atmi_rpc_files_t *files);

/* Opens a file as fopen does; its handle, a multiple of 16, or 0. */
uint64_t atmi_rpc_file_open(atmi_rpc_files_t *files, const char *path, const char *mode);

/* The stream that device code means by a number: 1 to 3 in the low two bits are stdin, stdout and stderr (the
 * rest is then without meaning), as are the host's own pointers to them; else a handle. NULL if it is none of
 * these. */
FILE *atmi_rpc_file_find(const atmi_rpc_files_t *files, uint64_t handle);

/* Closes a file by its handle. The result of fclose; EOF if the handle is not one. Standard streams are only
 * flushed.
 */
int atmi_rpc_file_close(atmi_rpc_files_t *files, uint64_t handle);

/* Flushes all of them. */
int atmi_rpc_files_flush(atmi_rpc_files_t *files);

#endif
