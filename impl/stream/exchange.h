/* Copies between the memory of devices, also where the program passes one device's memory for the host's. All
 * are operations of a stream, see stream/stream.h. */
#ifndef ATMI_STREAM_EXCHANGE_H
#define ATMI_STREAM_EXCHANGE_H

#include "stream/stream.h"

/* Whether two devices, or one with itself, can copy without the host. */
bool atmi_exchange_is_direct(const atmi_device_t *source, const atmi_device_t *destination);

/* From the stream's device to another one, or within it: directly where they can, else through the host. */
ATMI_MUST_CHECK atmi_status_t atmi_exchange(atmi_stream_t *stream, const void *source,
                                            atmi_device_t *destination_device, void *destination,
                                            size_t bytes);

/* As atmi_transfer_submit and atmi_transfer_retrieve, if the host's end is memory of a device, of this one or
 * another: programs do that which pass a wrong device number to omp_target_memcpy, or map device pointers;
 * the host cannot read such memory. False, and nothing has happened, if it is no device's. Asks HSA each
 * time. Fails, described, with ATMI_INVALID if the memory is shorter, or as copies do. */
ATMI_MUST_CHECK bool atmi_exchange_submit(atmi_stream_t *stream, void *device_memory, const void *host,
                                          size_t bytes, atmi_status_t *status);
ATMI_MUST_CHECK bool atmi_exchange_retrieve(atmi_stream_t *stream, void *host, const void *device_memory,
                                            size_t bytes, atmi_status_t *status);

#endif
