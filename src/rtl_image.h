/* Device images: which of them run on which device, and loading them. */
#ifndef RTL_IMAGE_H
#define RTL_IMAGE_H

#include "rtl_plugin.h"

/* Remembers a library's images. If it has images for AMD GPUs but none runs on any of ours, says so at once
 * in one block: what they are for, what the devices are, which feature differs, and what would help. */
void atmi_image_register(atmi_context_t *context, const __tgt_bin_desc *library);
/* Forgets the library's images, and unloads them from all devices, at once where nothing is running; not
 * when the program is ending. */
void atmi_image_unregister(atmi_context_t *context, const __tgt_bin_desc *library);
/* Forgets the images of one library, or of all if it is NULL. The caller holds the plugin's lock. */
void atmi_image_forget(atmi_context_t *context, const __tgt_bin_desc *library);

/* Whether an image runs on at least one device. Prints nothing. */
bool atmi_image_fits(const atmi_context_t *context, const __tgt_device_image *image);

/* The same for libomptarget 18, which registers no libraries: at the first image of a library none of whose
 * images fits, says what atmi_image_register says. */
bool atmi_image_judge(atmi_context_t *context, const __tgt_device_image *image);

/* Says in one block why a program with images for AMD GPUs cannot use any, where ROCr cannot be opened. A
 * program that has none hears of it only if debug is set. */
void atmi_image_explain_no_runtime(bool debug);

/* Loads an image on a device, with its table of entries. If this image does not fit the device, but the same
 * library has one that does, that one is taken: libomptarget knows only one image per plugin. The result
 * lives until the image's library is unregistered or the plugin stops. */
ATMI_MUST_CHECK atmi_status_t atmi_image_load(atmi_context_t *context, atmi_omp_device_t *device,
                                              const __tgt_device_image *image, atmi_loaded_image_t **loaded);

/* The entry of this name in the image's table, or NULL. */
const __tgt_offload_entry *atmi_image_find(atmi_loaded_image_t *loaded, const char *name);

/* Runs the destructors of everything that is loaded on the device. The caller holds the plugin's lock. */
void atmi_image_destruct_all(atmi_omp_device_t *device);

/* Unloads everything from the device, on which nothing runs any more. The caller holds the plugin's lock. */
void atmi_image_release_all(atmi_omp_device_t *device);

#endif
