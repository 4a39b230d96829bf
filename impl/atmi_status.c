/* Results of the core: the error line and the translation of HSA's codes. */
#include "atmi_status.h"

#include "atmi_hsa.h"

#include <stddef.h>
#include <stdio.h>

static void print_line(const char *kind, const char *where, const char *format, va_list arguments) {
  flockfile(stderr);
  fprintf(stderr, "AMDGPU %s: ", kind);
  if (where)
    fprintf(stderr, "%s: ", where);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  funlockfile(stderr);
}

atmi_status_t atmi_fail(atmi_status_t status, const char *where, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_line("error", where, format, arguments);
  va_end(arguments);
  return status;
}

void atmi_warn(const char *where, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_line("warning", where, format, arguments);
  va_end(arguments);
}

/* hsa_status_string works only between hsa_init and hsa_shut_down, and failures before and after matter too.
 */
static const struct {
  hsa_status_t status;
  const char *text;
} reasons[] = {
    {HSA_STATUS_ERROR, "HSA_STATUS_ERROR: generic error"},
    {HSA_STATUS_ERROR_INVALID_ARGUMENT, "HSA_STATUS_ERROR_INVALID_ARGUMENT"},
    {HSA_STATUS_ERROR_INVALID_ALLOCATION, "HSA_STATUS_ERROR_INVALID_ALLOCATION"},
    {HSA_STATUS_ERROR_INVALID_AGENT, "HSA_STATUS_ERROR_INVALID_AGENT"},
    {HSA_STATUS_ERROR_OUT_OF_RESOURCES, "HSA_STATUS_ERROR_OUT_OF_RESOURCES"},
    {HSA_STATUS_ERROR_NOT_INITIALIZED, "HSA_STATUS_ERROR_NOT_INITIALIZED"},
};

const char *atmi_hsa_reason(hsa_status_t status) {
  const char *text = NULL;
  if (hsa_status_string && hsa_status_string(status, &text) == HSA_STATUS_SUCCESS && text)
    return text;
  for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
    if (reasons[i].status == status)
      return reasons[i].text;
  return "an HSA status that this ROCr does not describe";
}

atmi_status_t atmi_status_from_hsa(hsa_status_t status) {
  switch ((int)status) {
  case HSA_STATUS_SUCCESS: return ATMI_OK;
  case HSA_STATUS_ERROR_OUT_OF_RESOURCES:
  case HSA_STATUS_ERROR_INVALID_ALLOCATION: return ATMI_NO_MEMORY;
  case HSA_STATUS_ERROR_INVALID_SYMBOL_NAME: return ATMI_NOT_FOUND;
  case HSA_STATUS_ERROR_INVALID_CODE_OBJECT: return ATMI_CORRUPT;
  default: return ATMI_HSA_FAILED;
  }
}
