/* Preloaded into a program: whatever it has for stdin is a terminal, and /dev/tty is the same thing. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

int isatty(int fd) { return fd >= 0; }

char *ttyname(int fd) { return fd < 0 ? NULL : "/dev/pts/0"; }

int ttyname_r(int fd, char *name, size_t size) {
    (void)fd;
    strncpy(name, "/dev/pts/0", size);
    return 0;
}

pid_t tcgetpgrp(int fd) {
    (void)fd;
    return getpgrp();
}

static int opened(const char *symbol, const char *path, int flags, mode_t mode) {
    int (*real)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, symbol);
    return strcmp(path, "/dev/tty") == 0 ? dup(0) : real(path, flags, mode);
}

static mode_t asked(int flags, va_list more) { return flags & (O_CREAT | O_TMPFILE) ? (mode_t)va_arg(more, int) : 0; }

int open(const char *path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    mode_t mode = asked(flags, more);
    va_end(more);
    return opened("open", path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    mode_t mode = asked(flags, more);
    va_end(more);
    return opened("open64", path, flags, mode);
}
