/* Files of device code: a table of slots; a handle is a slot's index and how often it was used. */
#include "services/rpc_file.h"

#include <stdlib.h>

typedef struct atmi_rpc_file {
  FILE *stream; /* NULL: free */
  uint32_t use; /* tells a handle from those that the slot had before */
} atmi_rpc_file_t;

enum { HANDLE_INDEX_BITS = 16, HANDLE_SHIFT = 4, MOST_FILES = 1 << HANDLE_INDEX_BITS };

static uint64_t handle_of(const atmi_rpc_files_t *files, uint32_t index) {
  return (((uint64_t)files->slots[index].use << HANDLE_INDEX_BITS) + index) << HANDLE_SHIFT;
}

static atmi_rpc_file_t *find_slot(const atmi_rpc_files_t *files, uint64_t handle) {
  uint32_t index = (uint32_t)(handle >> HANDLE_SHIFT) & (MOST_FILES - 1);
  if (index >= files->count || !files->slots[index].stream || handle_of(files, index) != handle)
    return NULL;
  return &files->slots[index];
}

static bool grow(atmi_rpc_files_t *files) {
  uint32_t larger = files->count ? 2 * files->count : 16;
  atmi_rpc_file_t *slots = larger <= MOST_FILES ? realloc(files->slots, larger * sizeof *slots) : NULL;
  if (!slots)
    return false;
  for (uint32_t i = files->count; i < larger; i++)
    slots[i] = (atmi_rpc_file_t){0};
  files->slots = slots;
  files->count = larger;
  return true;
}

uint64_t atmi_rpc_file_open(atmi_rpc_files_t *files, const char *path, const char *mode) {
  uint32_t index = 0;
  while (index < files->count && files->slots[index].stream)
    index++;
  if (index == files->count && !grow(files))
    return 0;
  FILE *stream = fopen(path, mode);
  if (!stream)
    return 0;
  files->slots[index].stream = stream;
  files->slots[index].use++; /* from 1, so that no handle is 0 */
  return handle_of(files, index);
}

static FILE *find_standard(uint64_t handle) {
  static const unsigned low_bits = 3;
  FILE *const standard[] = {NULL, stdin, stdout, stderr};
  for (unsigned i = 1; i <= low_bits; i++)
    if ((handle & low_bits) == i || handle == (uint64_t)(uintptr_t)standard[i])
      return standard[i];
  return NULL;
}

FILE *atmi_rpc_file_find(const atmi_rpc_files_t *files, uint64_t handle) {
  FILE *standard = find_standard(handle);
  if (standard)
    return standard;
  const atmi_rpc_file_t *slot = find_slot(files, handle);
  return slot ? slot->stream : NULL;
}

int atmi_rpc_file_close(atmi_rpc_files_t *files, uint64_t handle) {
  FILE *standard = find_standard(handle);
  if (standard)
    return fflush(standard);
  atmi_rpc_file_t *slot = find_slot(files, handle);
  if (!slot)
    return EOF;
  FILE *stream = slot->stream;
  slot->stream = NULL;
  return fclose(stream);
}

int atmi_rpc_files_flush(atmi_rpc_files_t *files) {
  int result = fflush(stdout) | fflush(stderr);
  for (uint32_t i = 0; i < files->count; i++)
    if (files->slots[i].stream)
      result |= fflush(files->slots[i].stream);
  return result ? EOF : 0;
}

void atmi_rpc_files_fini(atmi_rpc_files_t *files) {
  for (uint32_t i = 0; i < files->count; i++)
    if (files->slots[i].stream)
      fclose(files->slots[i].stream);
  free(files->slots);
  *files = (atmi_rpc_files_t){0};
}
