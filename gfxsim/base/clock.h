/* The simulated GPU's time: one constant-rate counter for timestamps, s_memrealtime and the thunk's clock
 * counters. Not here: the shader clock (s_memtime), which belongs to exec. */
#ifndef GFXSIM_BASE_CLOCK_H
#define GFXSIM_BASE_CLOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Rate of gs_clock_ticks: the 100 MHz reference clock of the simulated parts. */
#define GS_CLOCK_HZ UINT64_C(100000000)

/* Nanoseconds of CLOCK_BOOTTIME, which the thunk reports as the system clock. Thread-safe. */
uint64_t gs_clock_nanoseconds(void);

/* Ticks of the GPU's constant clock, derived from the same CLOCK_BOOTTIME. Never decreases, also between
 * threads; two samples within 10 ns may be equal. Thread-safe. */
uint64_t gs_clock_ticks(void);
/* The ticks at that time of gs_clock_nanoseconds. */
uint64_t gs_clock_ticks_at(uint64_t nanoseconds);

/* Sleeps until gs_clock_nanoseconds() is `end`, or `*stop` becomes true: that is noticed within 5 ms. */
void gs_clock_wait_until(uint64_t end, const atomic_bool *stop);

#endif
