/* From what a program names a file by, to the one path that it has: folders that are open or where the
 * process is, dots, links. Not here: which files and links there are (paths.h). */
#ifndef GFXSIM_KFD_RESOLVE_H
#define GFXSIM_KFD_RESOLVE_H

#include <stdbool.h>

enum { GS_PATH_BYTES = 256 };

/* Whether there is a link of ours at a path, and then where it leads. */
typedef bool gs_link_at_t(const char *path, char target[GS_PATH_BYTES]);

/* The path, without dots and links, of what openat calls `path` in `folder`; a link at the end stays unless
 * `follows`. Returns how many links of ours it passed, or -1 if nothing of ours can be there. Thread-safe. */
int gs_path_resolve(int folder, const char *path, bool follows, gs_link_at_t *link_at,
                    char resolved[GS_PATH_BYTES]);

/* What an open file is called: of ours, by the path that it was opened as. `link` is a path of /proc where
 * Linux says what it is. False: it has no such name. Thread-safe. */
bool gs_path_of_file(const char *link, char path[GS_PATH_BYTES]);
/* The same by its descriptor, or AT_FDCWD. */
bool gs_path_of_descriptor(int file, char path[GS_PATH_BYTES]);

/* From now on relative paths may begin in a folder of ours. */
void gs_path_expect_folders(void);

#endif
