/* What Linux tells of a processor's caches. Virtual machines may have nothing of it, and ROCr's thunk then
 * gives up ("Fail to get cache info"). Not here: which file that is (paths.h). */
#ifndef GFXSIM_KFD_CPU_TEXT_H
#define GFXSIM_KFD_CPU_TEXT_H

#include "kfd/topology_text.h"

/* Whether the system has the processor, of that node, and nothing of its caches. The path's numbers are those
 * two. */
bool gs_cpu_lacks_caches(gs_machine_t *machine, const gs_path_numbers_t *numbers);

/* Writers of the files of one cache, of the first level and that processor's own. */
gs_text_writer_t gs_write_cpu_level, gs_write_cpu_type, gs_write_cpu_size, gs_write_cpu_line,
    gs_write_cpu_ways, gs_write_cpu_sets, gs_write_cpu_partition, gs_write_cpu_list, gs_write_cpu_map;

#endif
