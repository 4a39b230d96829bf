/* What the processors do with HSA signals (amd_signal_t): completing one, reading one, storing to one.
 * Not here: events and who waits for them. */
#ifndef GFXSIM_PACKET_SIGNAL_H
#define GFXSIM_PACKET_SIGNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "packet/bus.h"

/* All of these take the handle of a signal, which is its address for the GPU, and return false after a memory
 * fault (see bus->fault). The bus must be entered. The memory is shared with the host: accesses are atomic.
 */

/* Adds to a word as the processor's link can: in one step, or by a load and a later store. Releases all that
 * the processor wrote before. */
void gs_signal_add(const gs_bus_t *bus, int64_t *value, int64_t amount);

/* Completes the work that the signal stands for: writes its time stamps (ticks of gs_clock_ticks), decrements
 * its value by one, and tells through *event_id which event to raise (0 = none). A null handle is no signal:
 * success. */
bool gs_signal_complete(gs_bus_t *bus, uint64_t handle, uint64_t start, uint64_t end, uint32_t *event_id);

/* Reads the value with acquire ordering. */
bool gs_signal_load(gs_bus_t *bus, uint64_t handle, int64_t *value);

/* Stores `value` if the signal is 0 now; *stored tells whether it was, and *event_id which event to raise (0
 * = none). */
bool gs_signal_store_if_zero(gs_bus_t *bus, uint64_t handle, int64_t value, bool *stored, uint32_t *event_id);

#endif
