/* Moves of a few bytes. Mostly these are a number or two, such as the result of a reduction, for which a call
 * of memcpy costs more than the move. */
#ifndef ATMI_BASE_FEW_H
#define ATMI_BASE_FEW_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* As memcpy. */
static inline void atmi_move_few(void *restrict to, const void *restrict from, size_t bytes) {
  uint64_t first, last;
  if (bytes - sizeof first > sizeof last) {
    memcpy(to, from, bytes);
    return;
  }
  memcpy(&first, from, sizeof first);
  memcpy(&last, (const char *)from + bytes - sizeof last, sizeof last);
  memcpy(to, &first, sizeof first);
  memcpy((char *)to + bytes - sizeof last, &last, sizeof last);
}

#endif
