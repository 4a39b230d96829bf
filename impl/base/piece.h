/* A part of what one copy moves between a device and several places of the host. */
#ifndef ATMI_BASE_PIECE_H
#define ATMI_BASE_PIECE_H

#include <stdint.h>

typedef struct atmi_piece {
  void *host;      /* where it is on the host */
  uint32_t offset; /* from the beginning of what the copy moves */
  uint32_t bytes;
} atmi_piece_t;

#endif
