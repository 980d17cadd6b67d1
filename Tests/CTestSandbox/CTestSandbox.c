#define _GNU_SOURCE
#include "CTestSandbox.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

/* Set in the processes that tests start: they share the sandbox of the first. */
static const char marker[] = "TEST_SANDBOX";

enum { max_watched = 16 };
static char *watched[max_watched];
static int watched_count = 0;

static char directory[PATH_MAX];
static char file[PATH_MAX];

static int exists(const char *path) {
  struct stat status;
  return lstat(path, &status) == 0;
}

static void check_watched(void) {
  int touched = 0;
  for (int i = 0; i < watched_count; i++) {
    if (exists(watched[i])) {
      fprintf(stderr, "error: a test used the machine's own place: %s has come into being.\n"
                      "help: Name the store and the socket in the test that did it.\n",
              watched[i]);
      touched = 1;
    }
  }
  if (touched) _exit(1);
}

static void remove_sandbox(void) {
  unlink(file);
  rmdir(directory);
}

void test_sandbox_watch(const char *path) {
  if (path == NULL || path[0] != '/' || exists(path) || watched_count == max_watched) return;
  char *copy = strdup(path);
  if (copy == NULL) return;
  if (watched_count == 0) atexit(check_watched);
  watched[watched_count++] = copy;
}

static void watch_below(const char *base, const char *name) {
  char path[PATH_MAX];
  if (base == NULL || snprintf(path, sizeof path, "%s/%s", base, name) >= (int)sizeof path) return;
  test_sandbox_watch(path);
}

static int begins(const char *text, const char *prefix) {
  return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Removes every variable that names a place of the user's, or a setting of threadkeeper or of what it uses. */
static void clear_variables(void) {
  static const char *const prefixes[] = {
    "THREADKEEPER_", "XDG_", "STATE_DIRECTORY=", "RUNTIME_DIRECTORY=", "CREDENTIALS_DIRECTORY=",
    "NOTIFY_SOCKET=", "WATCHDOG_", "MQTT_", "LANG=", "LANGUAGE=", "LC_", "PG", "PYTHON",
    "SSL_CERT_", "OPENSSL_CONF="};
  for (char **entry = environ; *entry != NULL;) {
    int is_cleared = 0;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
      is_cleared |= begins(*entry, prefixes[i]);
    char name[256];
    size_t length = strcspn(*entry, "=");
    if (!is_cleared || length >= sizeof name) {
      entry++;
      continue;
    }
    memcpy(name, *entry, length);
    name[length] = 0;
    unsetenv(name); /* Moves the entries that follow. */
  }
}

static void fail(const char *what) {
  perror(what);
  _exit(1);
}

static void set_below_file(const char *name, const char *prefix, const char *part) {
  char path[PATH_MAX];
  if (snprintf(path, sizeof path, "%s%s/%s", prefix, file, part) >= (int)sizeof path) fail(name);
  if (setenv(name, path, 1) != 0) fail(name);
}

/* Where tests have their files: TMPDIR, unless other users, as whom tests run programs, cannot get there, or a socket
   would have too long a name there. */
static const char *temporary_directory(void) {
  static const char fallback[] = "/tmp";
  char part[40];
  const char *path = getenv("TMPDIR");
  if (path == NULL || path[0] != '/' || strlen(path) >= sizeof part) return fallback;
  for (size_t length = 1; length <= strlen(path); length++) {
    if (path[length] != '/' && path[length] != 0) continue;
    memcpy(part, path, length);
    part[length] = 0;
    struct stat status;
    if (stat(part, &status) != 0 || (status.st_mode & S_IXOTH) == 0) return fallback;
  }
  return path;
}

/* What a machine or a user has chosen for all programs. The system's own come first: a test that needs `python3` means
   the one that has Debian's modules. */
static void set_defaults(void) {
  const char *path = getenv("PATH");
  char all[1 << 16];
  if (snprintf(all, sizeof all, "/usr/sbin:/usr/bin:/sbin:/bin%s%s", path == NULL ? "" : ":",
               path == NULL ? "" : path) >= (int)sizeof all
      || setenv("PATH", all, 1) != 0 || setenv("TZ", "UTC0", 1) != 0)
    fail("the variables of the test sandbox");
  umask(022);
}

/* Runs before `main`, so that nothing has read the environment yet. */
__attribute__((constructor)) static void enter_sandbox(void) {
  if (getenv(marker) != NULL) return;
  watch_below("/var/lib", "threadkeeper");
  watch_below("/run", "threadkeeper");
  watch_below("/etc", "threadkeeper");
  watch_below(getenv("HOME"), ".local/share/threadkeeper");
  watch_below(getenv("HOME"), ".config/threadkeeper");
  watch_below(getenv("XDG_DATA_HOME"), "threadkeeper");
  watch_below(getenv("XDG_CONFIG_HOME"), "threadkeeper");

  const char *temporary = temporary_directory();
  if (snprintf(directory, sizeof directory, "%s/threadkeeper-sandbox-XXXXXX", temporary)
        >= (int)sizeof directory
      || mkdtemp(directory) == NULL
      || chmod(directory, 0755) != 0) /* Tests run programs as other users. */
    fail("the directory of the test sandbox");
  if (snprintf(file, sizeof file, "%s/nowhere", directory) >= (int)sizeof file)
    fail("the directory of the test sandbox");
  int descriptor = open(file, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0444);
  if (descriptor < 0) fail(file);
  close(descriptor);
  atexit(remove_sandbox);

  clear_variables();
  set_defaults();
  setenv(marker, directory, 1);
  setenv("TMPDIR", temporary, 1);
  set_below_file("HOME", "", "home");
  set_below_file("THREADKEEPER_SYSTEM_ROOT", "", "system");
  /* The services of the machine's network are found by its avahi-daemon. */
  set_below_file("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=", "bus");
}
