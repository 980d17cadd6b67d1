#ifndef CTESTSANDBOX_H
#define CTESTSANDBOX_H

/*
 * Keeps the tests away from the threadkeeper of the machine that they run on.
 *
 * Before the first test, the process gets an environment in which every default place of a store, a
 * key, a socket or a configuration lies below a regular file: whoever uses a default there fails with
 * ENOTDIR, root too. So does whoever looks for the machine's D-Bus. Programs that the tests start inherit it.
 *
 * The language, the time zone, the file mode creation mask and the variables of libraries are the same on all machines.
 *
 * When the process ends, it fails if one of the machine's own places has come into being meanwhile.
 */

/* Fails this process at its end if `path` does not exist now and does then. */
void test_sandbox_watch(const char *path);

#endif
