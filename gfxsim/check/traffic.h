/* Copies of mapped variables that nobody needed, added up by variable. Not here: how that is found out. */
#ifndef GFXSIM_CHECK_TRAFFIC_H
#define GFXSIM_CHECK_TRAFFIC_H

#include <stdint.h>

#include "check/text.h"

/* Why a copy was not needed. */
typedef enum gs_waste {
  GS_WASTE_UNREAD,    /* to the device, where no kernel read it */
  GS_WASTE_REPEATED,  /* to the device, which had it */
  GS_WASTE_UNCHANGED, /* to the host, which had it */
  GS_WASTE_COUNT
} gs_waste_t;

/* A variable, by the place where it is declared. Never freed before the end. */
typedef struct gs_variable {
  struct gs_variable *next;
  char name[GS_BLOCK_NAME], file[GS_BLOCK_NAME];
  uint32_t line;
  uint64_t bytes[GS_WASTE_COUNT], times[GS_WASTE_COUNT];
  /* What the device had when it was mapped last: of this variable on the host, so many bytes. */
  uint64_t last_host, last_bytes, last_hash;
} gs_variable_t;

/* Adds a table to `text`: most bytes first, with the share of all `copied` bytes. Nothing when nothing was in
 * vain. */
void gs_traffic_write(gs_text_t *text, const gs_variable_t *first, uint64_t copied);

#endif
