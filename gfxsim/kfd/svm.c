/* Attributes of the program's memory: GPUs have ids here, and nodes in the machine. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kfd/kfd.h"

static bool is_access(uint32_t type) {
  return type == HSA_SVM_ATTR_ACCESS || type == HSA_SVM_ATTR_ACCESS_IN_PLACE ||
         type == HSA_SVM_ATTR_NO_ACCESS;
}

static bool is_place(uint32_t type) {
  return type == HSA_SVM_ATTR_PREFERRED_LOC || type == HSA_SVM_ATTR_PREFETCH_LOC;
}

/* The machine's word for an attribute. False if it names a GPU that is not there. Where places are asked for,
 * anything may stand in the question. */
static bool translate(gs_machine_t *machine, const kfd_svm_attribute_t *from, bool is_question,
                      HSA_SVM_ATTRIBUTE *to) {
  to->type = (HSA_SVM_ATTR_TYPE)from->type;
  to->value = from->value;
  const bool names_place = is_place(from->type) && !is_question && from->value && from->value != UINT32_MAX;
  if (!names_place && !is_access(from->type))
    return true;
  const gs_gpu_t *gpu = gs_kfd_gpu_of(machine, from->value);
  to->value = gpu ? gpu->node : 0;
  return gpu != NULL;
}

static int call(gs_machine_t *machine, kfd_svm_t *wanted, HSA_SVM_ATTRIBUTE *list) {
  for (uint32_t i = 0; i < wanted->count; i++)
    if (!translate(machine, &wanted->list[i], wanted->operation == KFD_SVM_GET, &list[i]))
      return -EINVAL;
  if (wanted->operation == KFD_SVM_SET)
    return gs_kfd_errno(gs_svm_set(&machine->svm, wanted->start, wanted->size, list, wanted->count));
  const int error = gs_kfd_errno(gs_svm_get(&machine->svm, wanted->start, wanted->size, list, wanted->count));
  for (uint32_t i = 0; !error && i < wanted->count; i++) {
    const gs_gpu_t *gpu = gs_machine_gpu(machine, list[i].value);
    wanted->list[i].type = list[i].type;
    if (is_place(list[i].type))
      wanted->list[i].value = gpu ? gs_kfd_gpu_id(gpu) : list[i].value;
    else if (!is_access(list[i].type))
      wanted->list[i].value = list[i].value;
  }
  return error;
}

int gs_kfd_svm(gs_machine_t *machine, void *argument) {
  enum { MOST = 64 }; /* more than there are types and GPUs */
  kfd_svm_t *wanted = argument;
  HSA_SVM_ATTRIBUTE list[MOST];
  /* Runtimes ask after a fault whether or not there is such memory. */
  if (!machine->options.svm || wanted->operation > KFD_SVM_GET || wanted->count > MOST)
    return -EINVAL;
  return call(machine, wanted, list);
}
