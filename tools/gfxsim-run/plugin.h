/* Programs and plugins as files: where they are, and whether they can be used. */
#ifndef RUN_PLUGIN_H
#define RUN_PLUGIN_H

#include <limits.h>
#include <stdbool.h>

/* The file that execvp finds for a name. False if there is none. */
bool run_find_program(const char *name, char path[PATH_MAX]);

/* Checks that a program can be executed. Returns 0, or the exit status after a message. */
int run_check_program(const char *name);

/* Finds the folder of the plugins.
 *   which   ours, stock, stock-classic or a folder
 *   ours    the folder of this project's plugin
 *   words   the program and its arguments, NULL at the end: with the stock plugins, the first word that is a
 *           program linked to libomptarget says where they are
 *
 * Returns 0 with the folder's full name in `folder`, or the exit status after a message. */
int run_find_plugins(const char *which, const char *ours, char *const *words, char folder[PATH_MAX]);

#endif
