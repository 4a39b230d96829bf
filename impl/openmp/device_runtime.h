/* What the device runtime inside an image needs from its host: to be told about its device, memory for
 * malloc, the table for calls through host pointers, constructors and destructors. Not here: loading the
 * image (image). */
#ifndef ATMI_OPENMP_DEVICE_RUNTIME_H
#define ATMI_OPENMP_DEVICE_RUNTIME_H

#include "openmp/context.h"

/* Sets up whatever of it the image has, after it was loaded and before it is sealed, and runs its
 * constructors. `hosts` are the entries of the request. The stream is synchronised. Fails, described;
 * atmi_device_runtime_fini releases what there is. */
ATMI_MUST_CHECK atmi_status_t atmi_device_runtime_init(const atmi_context_t *context,
                                                       atmi_loaded_image_t *loaded, const atmi_entry_t *hosts,
                                                       atmi_stream_t *stream);

/* Runs the image's destructors, the first time it is called, unless the device is lost. */
void atmi_device_runtime_destruct(atmi_loaded_image_t *loaded);

/* As atmi_device_runtime_destruct, and releases what init made. Nothing of the image runs any more. Accepts
 * an image for which init failed or was never called. */
void atmi_device_runtime_fini(atmi_loaded_image_t *loaded);

#endif
