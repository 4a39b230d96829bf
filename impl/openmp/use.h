/* The use of devices: it begins with the first call that needs one, and ends with the process. Not here: the
 * context's own beginning and end (process). */
#ifndef ATMI_OPENMP_USE_H
#define ATMI_OPENMP_USE_H

#include "openmp/context.h"

/* Devices may be used from now on, if it is the first time that somebody wants to. Thread-safe. */
void atmi_context_begin_use(atmi_context_t *context);

/* The device of this number if that begins its use. Otherwise says why there is none, or why it may not be
 * used any more, unless the context was stopped, and returns NULL. */
atmi_omp_device_t *atmi_context_first_device(atmi_context_t *context, int32_t number, const char *operation);

/* The same; also the device of this number if the program is ending. */
atmi_omp_device_t *atmi_context_late_device(atmi_context_t *context, int32_t number, const char *operation);

/* The device of this number for who wants to know what is said of it, which is no use: `core` may be NULL, or
 * become so. NULL, described, if there is none. */
atmi_omp_device_t *atmi_context_known_device(atmi_context_t *context, int32_t number, const char *operation);

/* Whether mapped memory of the host is to be used in place on this device. Who asks does so if it is, and
 * images that are loaded from now on expect that: their variables begin with what the host's hold.
 * Thread-safe. */
bool atmi_context_ask_zero_copy(const atmi_context_t *context, atmi_omp_device_t *device);

/* As atmi_context_any_device, for who needs no more than that it exists. */
static inline bool atmi_context_has_device(atmi_context_t *context, int32_t number, const char *operation) {
  return atmi_context_is_usable(context, number) || atmi_context_late_device(context, number, operation);
}

/* The device of this number if it may be used, or NULL with a message that begins with `operation`. For what
 * acquires something, or has ROCr do more than take a packet. */
static inline atmi_omp_device_t *atmi_context_device(atmi_context_t *context, int32_t number,
                                                     const char *operation) {
  if (atmi_context_is_usable(context, number))
    return &context->devices[(uint32_t)number];
  return atmi_context_first_device(context, number, operation);
}

/* The same for what is still done while the program ends: launches of kernels, waiting, and giving back. */
static inline atmi_omp_device_t *atmi_context_any_device(atmi_context_t *context, int32_t number,
                                                         const char *operation) {
  if (atmi_context_is_usable(context, number))
    return &context->devices[(uint32_t)number];
  return atmi_context_late_device(context, number, operation);
}

#endif
