/* What the driver tells of a GPU as a device of the bus, as libraries of system management read it: the texts
 * of its files, and where links to it lead. Not here: which file that is (paths.h). */
#ifndef GFXSIM_KFD_PCI_TEXT_H
#define GFXSIM_KFD_PCI_TEXT_H

#include "kfd/topology_text.h"

/* The bus that a GPU is on by itself: 1 for the first. NULL: there is no GPU on this one. */
gs_gpu_t *gs_pci_gpu(gs_machine_t *machine, uint32_t bus);

/* Writers of files. The first number of their paths is the bus. */
gs_text_writer_t gs_write_vendor, gs_write_device, gs_write_revision, gs_write_class, gs_write_pci_event,
    gs_write_unique_id, gs_write_numa_node, gs_write_product, gs_write_link_speed, gs_write_link_width,
    gs_write_level, gs_write_engine_clock, gs_write_memory_clock, gs_write_engine_hertz, gs_write_chip,
    gs_write_clock_label, gs_write_used, gs_write_total, gs_write_visible_used, gs_write_visible_total,
    gs_write_system_used, gs_write_system_total;

/* The same where the second number is that of a card or render node. */
gs_text_writer_t gs_write_drm_number, gs_write_drm_event;

/* Where links lead to. Those to devices are known by that number alone, or by the bus. */
gs_text_writer_t gs_link_class_drm, gs_link_dev_char, gs_link_bus, gs_link_bus_of_driver, gs_link_device;

#endif
