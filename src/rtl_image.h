/* Images and their entries as libomptarget passes them, and what it expects of loaded ones. */
#ifndef RTL_IMAGE_H
#define RTL_IMAGE_H

#include "rtl_plugin.h"

/* A library came, with all its images, or went. */
void rtl_image_register(const __tgt_bin_desc *library);
void rtl_image_unregister(const __tgt_bin_desc *library);

/* Whether an image runs on at least one device. Prints nothing. */
bool rtl_image_fits(const __tgt_device_image *image);

/* The same for libomptarget 18, which registers no libraries: at the first image of a library none of whose
 * images fits, says why. */
bool rtl_image_judge(rtl_plugin_t *plugin, const __tgt_device_image *image);

/* Loads an image on a device. The result lives until the image's library is unregistered or the plugin
 * stops. */
ATMI_MUST_CHECK atmi_status_t rtl_image_load(atmi_omp_device_t *device, const __tgt_device_image *image,
                                             atmi_loaded_image_t **loaded);

/* The table of a loaded image, which lives as long. */
__tgt_target_table *rtl_image_table(const atmi_loaded_image_t *loaded);

#endif
