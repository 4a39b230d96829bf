/* What a fault may have to do with the compiler's device runtime, and what helps. Not here: reports
 * (machine/fault). */
#ifndef ATMI_MACHINE_FAULT_ADVICE_H
#define ATMI_MACHINE_FAULT_ADVICE_H

struct atmi_kernel;

/* After a report that `kernel` has trapped, or used null as an address: one line on stderr with the option
 * for this project's device support library, if there is one for the image's compiler and the image is
 * without. Searches the image. `where` names the device; a null kernel is accepted. */
void atmi_fault_advise(const char *where, const struct atmi_kernel *kernel);

#endif
