/*
 * A disk that fails while it is told to: a library to be preloaded into a program (ld.so(8)).
 *
 * FAILING_FILES names a directory. Calls on open files below it fail while there is a file
 *   $FAILING_SWITCH.reads      reading with EIO
 *   $FAILING_SWITCH.writes     writing, syncing and truncating with EIO
 *   $FAILING_SWITCH.readonly   writing and truncating with EROFS, as after a remount
 */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static int is_on(const char *name) {
  char path[PATH_MAX];
  const char *base = getenv("FAILING_SWITCH");
  if (base == NULL || snprintf(path, sizeof path, "%s.%s", base, name) >= (int)sizeof path) return 0;
  return access(path, F_OK) == 0;
}

static int is_meant(int descriptor) {
  char link[64], path[PATH_MAX];
  const char *directory = getenv("FAILING_FILES");
  if (directory == NULL) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  size_t prefix = strlen(directory);
  return strncmp(path, directory, prefix) == 0 && path[prefix] == '/';
}

/* The error that a call is to fail with; 0 for none. */
static int failure(int descriptor, int is_write, int is_sync) {
  int before = errno, code = 0;
  if (is_meant(descriptor)) {
    if (!is_write && is_on("reads")) code = EIO;
    if (is_write && is_on("writes")) code = EIO;
    if (is_write && !is_sync && is_on("readonly")) code = EROFS;
  }
  errno = before;
  return code;
}

#define WRAP(type, name, parameters, arguments, is_write, is_sync)  \
  type name parameters {                                            \
    static type(*real) parameters;                                  \
    if (real == NULL) real = (type(*) parameters)dlsym(RTLD_NEXT, #name); \
    int code = failure(fd, is_write, is_sync);                      \
    if (code == 0) return real arguments;                           \
    errno = code;                                                   \
    return -1;                                                      \
  }

WRAP(ssize_t, read, (int fd, void *data, size_t count), (fd, data, count), 0, 0)
WRAP(ssize_t, pread, (int fd, void *data, size_t count, off_t at), (fd, data, count, at), 0, 0)
WRAP(ssize_t, pread64, (int fd, void *data, size_t count, off64_t at), (fd, data, count, at), 0, 0)
WRAP(ssize_t, write, (int fd, const void *data, size_t count), (fd, data, count), 1, 0)
WRAP(ssize_t, pwrite, (int fd, const void *data, size_t count, off_t at), (fd, data, count, at), 1, 0)
WRAP(ssize_t, pwrite64, (int fd, const void *data, size_t count, off64_t at), (fd, data, count, at),
     1, 0)
WRAP(int, ftruncate, (int fd, off_t size), (fd, size), 1, 0)
WRAP(int, ftruncate64, (int fd, off64_t size), (fd, size), 1, 0)
WRAP(int, fsync, (int fd), (fd), 1, 1)
WRAP(int, fdatasync, (int fd), (fd), 1, 1)
