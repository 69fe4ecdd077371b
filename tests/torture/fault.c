/* Lets the N-th write to one database fail: preloaded, told by `fault_arm`. Reads and other files are left alone. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static char wanted[4096];
static long first, last, seen;
static int error;

/* From here on, of the writes to `path` and its -wal and -shm, those from the `nth` on fail, `count` of them. */
void fault_arm(const char *path, long nth, long count, int code) {
    strncpy(wanted, path, sizeof wanted - 1);
    first = nth;
    last = nth + count;
    error = code;
    __atomic_store_n(&seen, 0, __ATOMIC_SEQ_CST);
}

/* How many there were since. */
long fault_seen(void) { return __atomic_load_n(&seen, __ATOMIC_SEQ_CST); }

static int is_wanted(int fd) {
    char link[64], path[4096];
    if (!wanted[0]) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t size = readlink(link, path, sizeof path - 1);
    if (size < 0) return 0;
    path[size] = 0;
    size_t length = strlen(wanted);
    if (strncmp(path, wanted, length)) return 0;
    return !path[length] || !strcmp(path + length, "-wal") || !strcmp(path + length, "-shm");
}

static int fails(int fd) {
    if (!is_wanted(fd)) return 0;
    long number = __atomic_add_fetch(&seen, 1, __ATOMIC_SEQ_CST);
    if (number < first || number >= last) return 0;
    errno = error;
    return 1;
}

ssize_t write(int fd, const void *from, size_t size) {
    static ssize_t (*real)(int, const void *, size_t);
    if (!real) real = dlsym(RTLD_NEXT, "write");
    return fails(fd) ? -1 : real(fd, from, size);
}

ssize_t pwrite(int fd, const void *from, size_t size, off_t at) {
    static ssize_t (*real)(int, const void *, size_t, off_t);
    if (!real) real = dlsym(RTLD_NEXT, "pwrite");
    return fails(fd) ? -1 : real(fd, from, size, at);
}

ssize_t pwrite64(int fd, const void *from, size_t size, off64_t at) {
    static ssize_t (*real)(int, const void *, size_t, off64_t);
    if (!real) real = dlsym(RTLD_NEXT, "pwrite64");
    return fails(fd) ? -1 : real(fd, from, size, at);
}
