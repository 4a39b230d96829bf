/* Results of the core, and the one way it tells a person about a failure. Not here: what a failure means to
 * libomptarget (src turns every status into OFFLOAD_SUCCESS or OFFLOAD_FAIL). */
#ifndef ATMI_BASE_STATUS_H
#define ATMI_BASE_STATUS_H

#include <hsa/hsa.h>
#include <stdarg.h>

typedef enum atmi_status {
  ATMI_OK = 0,
  ATMI_PENDING,     /* not a failure: the work is still running */
  ATMI_INVALID,     /* an argument that no caller should pass */
  ATMI_NO_MEMORY,   /* host or device memory, or another resource of the device, is exhausted */
  ATMI_NOT_FOUND,   /* no such symbol, kernel or device */
  ATMI_CORRUPT,     /* the image or its metadata contradicts itself */
  ATMI_UNSUPPORTED, /* understood, but this device or image cannot do it */
  ATMI_LOST,        /* the device or the queue is gone: an earlier fault took it */
  ATMI_HSA_FAILED,  /* any other refusal by HSA */
} atmi_status_t;

#define ATMI_BREAK "\036" /* begins the next line of a message */

#define ATMI_MUST_CHECK              __attribute__((warn_unused_result))
#define ATMI_PRINTF(template, first) __attribute__((format(printf, template, first)))

/* Prints "AMDGPU error: <where>: <message>" on stderr and returns `status`, so that the place that first
 * detects a failure can describe it and pass it on in one statement. `where` names the device or the part of
 * the program, and may be NULL. A message is one line, or several with an ATMI_BREAK before each but the
 * first; those begin with "AMDGPU error:   ". What terminals do not print is escaped, so texts of others need
 * no care. Thread-safe; lines of other messages come before or after, not between. Cut behind 8 KiB. */
atmi_status_t atmi_fail(atmi_status_t status, const char *where, const char *format, ...) ATMI_PRINTF(3, 4);

/* As atmi_fail, for something that the operation survives: "AMDGPU warning: ...". */
void atmi_warn(const char *where, const char *format, ...) ATMI_PRINTF(2, 3);

/* HSA's own words for a status, e.g. "HSA_STATUS_ERROR_OUT_OF_RESOURCES: ...". Static storage of HSA, or a
 * fixed text for a code that HSA does not know. Works before hsa_init and after hsa_shut_down. */
const char *atmi_hsa_reason(hsa_status_t status);

/* The core's status for an HSA status that is not a success. */
atmi_status_t atmi_status_from_hsa(hsa_status_t status);

#endif
