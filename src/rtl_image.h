/* Device images: which of them run on which device, and loading them. */
#ifndef RTL_IMAGE_H
#define RTL_IMAGE_H

#include "rtl_plugin.h"

/* Remembers a library's images. If it has images for AMD GPUs but none runs on any of ours, says so at once
 * in one block: what they are for, what the devices are, which feature differs, and what would help. */
void rtl_image_register(rtl_plugin_t *plugin, const __tgt_bin_desc *library);
/* Forgets the library's images, and unloads them from all devices, at once where nothing is running; not
 * when the program is ending. */
void rtl_image_unregister(rtl_plugin_t *plugin, const __tgt_bin_desc *library);
/* Forgets the images of one library, or of all if it is NULL. The caller holds the plugin's lock. */
void rtl_image_forget(rtl_plugin_t *plugin, const __tgt_bin_desc *library);

/* Whether an image runs on at least one device. Prints nothing. */
bool rtl_image_fits(const rtl_plugin_t *plugin, const __tgt_device_image *image);

/* The same for libomptarget 18, which registers no libraries: at the first image of a library none of whose
 * images fits, says what rtl_image_register says. */
bool rtl_image_judge(rtl_plugin_t *plugin, const __tgt_device_image *image);

/* Says in one block why a program with images for AMD GPUs cannot use any, where ROCr cannot be opened. A
 * program that has none hears of it only if debug is set. */
void rtl_image_explain_no_runtime(bool debug);

/* Loads an image on a device, with its table of entries. If this image does not fit the device, but the same
 * library has one that does, that one is taken: libomptarget knows only one image per plugin. The result
 * lives until the image's library is unregistered or the plugin stops. */
ATMI_MUST_CHECK atmi_status_t rtl_image_load(rtl_plugin_t *plugin, rtl_device_t *device,
                                             const __tgt_device_image *image, rtl_loaded_image_t **loaded);

/* The entry of this name in the image's table, or NULL. */
const __tgt_offload_entry *rtl_image_find(rtl_loaded_image_t *loaded, const char *name);

/* Runs the destructors of everything that is loaded on the device. The caller holds the plugin's lock. */
void rtl_image_destruct_all(rtl_device_t *device);

/* Unloads everything from the device, on which nothing runs any more. The caller holds the plugin's lock. */
void rtl_image_release_all(rtl_device_t *device);

#endif
