/* The system below the relay on Linux and macOS; relay.c includes it. */

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#ifdef __APPLE__
#include <mach-o/dyld.h>
#include <pwd.h>
#include <sys/random.h>
#elif defined(__linux__)
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#endif

typedef int stream; /* a connection, or one end of a pipe */

enum { NO_STREAM = -1, BROKEN = -1, WOULD_BLOCK = -2, DAY = 24 * 3600 * 1000, PATH_ROOM = 16 * 1024, SEPARATOR = '/' };

extern char **environ;

static _Noreturn void leave(int code) {
    _exit(code);
}

static int64_t milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* A standard stream that the agent closed must not be taken for the socket that gets its number. */
static void prepare(void) {
    signal(SIGPIPE, SIG_IGN);
    for (int descriptor = 0; descriptor < 3; descriptor++)
        if (fcntl(descriptor, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0) return;
}

/* What is ready by then, as poll says it; the kernel's word for trouble counts as ready, so that it is met there. */
static void wait_for(stream reader, stream writer, int64_t ms, int *can_read, int *can_write) {
    int is_one = reader == writer;
    struct pollfd asked[2] = {{reader, (short)(is_one ? POLLIN | POLLOUT : POLLIN), 0}, {is_one ? -1 : writer, POLLOUT, 0}};
    int64_t until = milliseconds() + ms;
    *can_read = *can_write = 0;
    for (;;) {
        int64_t left = ms < 0 ? 0 : ms > DAY ? DAY : ms;
        int count = poll(asked, 2, (int)left);
        if (count >= 0) break;
        if (errno != EINTR) return;
        ms = until - milliseconds();
    }
    *can_read = reader >= 0 && (asked[0].revents & ~POLLOUT) != 0;
    *can_write = writer >= 0 && (asked[is_one ? 0 : 1].revents & ~POLLIN) != 0;
}

/* Gets the pages of this range at once, where the system can: one by one they take three times as long. */
static void fill_pages(unsigned char *at, size_t size) {
#ifdef MADV_POPULATE_WRITE
    size_t before = (size_t)at & 4095;
    madvise(at - before, size + before, MADV_POPULATE_WRITE);
#else
    (void)at, (void)size;
#endif
}

/* 0 when the end never comes: what is there may be cut short, so nothing is decided on it. */
static int read_input(struct bytes *payload) {
    for (;;) {
        int can_read, can_write;
        wait_for(0, NO_STREAM, STDIN_LIMIT, &can_read, &can_write);
        if (!can_read) return 0;
        /* A long payload gets all its room at once and is not moved again: untouched room costs nothing. */
        if (payload->room - payload->size < 16 * 1024) {
            reserve(payload, payload->size < LONG_INPUT ? 64 * 1024 : PAYLOAD_LIMIT);
            if (payload->size && payload->size < LONG_INPUT)
                fill_pages(payload->at + payload->size, payload->room - payload->size);
        }
        ssize_t size = read(0, payload->at + payload->size, payload->room - payload->size);
        if (size > 0) payload->size += (size_t)size;
        if (size == 0) return 1;
        if (size < 0 && errno != EAGAIN && errno != EINTR) return 0;
    }
}

/* Best effort: an agent that no longer reads wants no answer. */
static void write_output(int descriptor, const unsigned char *text, size_t size) {
    while (size) {
        ssize_t sent = write(descriptor, text, size);
        if (sent >= 0) text += sent, size -= (size_t)sent;
        else if (errno == EAGAIN) {
            int can_read, can_write;
            wait_for(NO_STREAM, descriptor, DAY, &can_read, &can_write);
        } else if (errno != EINTR) return;
    }
}

static void fill_randomly(unsigned char *at, size_t size) {
#ifdef __APPLE__
    if (getentropy(at, size)) give_up();
#else
    if (getrandom(at, size, 0) != (ssize_t)size) give_up();
#endif
}

static uint64_t parent_id(void) {
    return (uint64_t)getppid();
}

static const char *variable(const char *name) {
    size_t size = length(name);
    for (char **entry = environ; *entry; entry++)
        if (begins(*entry, name) && (*entry)[size] == '=') return *entry + size + 1;
    return NULL;
}

static void add_environment(struct bytes *frame) {
    for (char **entry = environ; *entry; entry++) add_line(frame, "", *entry);
}

static void add_working_folder(struct bytes *frame) {
    static char path[PATH_ROOM];
    add_line(frame, "cwd=", getcwd(path, sizeof path) ? path : ""); /* removed under the agent's feet */
}

static int read_file(const char *path, struct bytes *text) {
    int opened = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size = opened < 0 ? -1 : 1;
    while (size > 0 || (size < 0 && opened >= 0 && errno == EINTR)) {
        reserve(text, 16 * 1024);
        size = read(opened, text->at + text->size, text->room - text->size);
        if (size > 0) text->size += (size_t)size;
    }
    if (opened >= 0) close(opened);
    return size == 0;
}

/* Where this program is, or as it was called where the system does not say; NULL when nobody does. */
static char *own_path(void) {
    struct bytes path = {0};
#ifdef __APPLE__
    uint32_t size = 0;
    _NSGetExecutablePath(NULL, &size);
    reserve(&path, size);
    return _NSGetExecutablePath((char *)path.at, &size) ? NULL : realpath((char *)path.at, NULL);
#else
    reserve(&path, PATH_ROOM);
    ssize_t size = readlink("/proc/self/exe", (char *)path.at, PATH_ROOM);
    if (size <= 0) return request.program;
    path.size = (size_t)size;
    return text_of(&path);
#endif
}

#ifdef __APPLE__
static void add_known_home(struct bytes *path, const char *name, size_t size) {
    struct bytes wanted = {0};
    add(&wanted, name, size);
    struct passwd *found = size ? getpwnam(text_of(&wanted)) : getpwuid(getuid());
    if (!found) give_up();
    add_text(path, found->pw_dir);
}
#else
/* The home of the user of this name, or of our own when `size` is 0, as /etc/passwd has it. */
static void add_known_home(struct bytes *path, const char *name, size_t size) {
    struct bytes users = {0};
    const char *own = decimal(getuid());
    if (!read_file("/etc/passwd", &users)) give_up();
    for (char *at = text_of(&users); *at;) {
        char *fields[7] = {at};
        for (int count = 1; *at && *at != '\n'; at++)
            if (*at == ':' && count < 7) *at = 0, fields[count++] = at + 1;
        if (*at) *at++ = 0;
        if (fields[6] && (size ? length(fields[0]) == size && begins(name, fields[0]) : is_same(fields[2], own))) {
            add_text(path, fields[5]);
            return;
        }
    }
    give_up();
}
#endif

static void add_expanded(struct bytes *path, const char *text) {
    size_t size = 0;
    if (text[0] == '~') {
        while (text[size + 1] && text[size + 1] != '/') size++;
        const char *home = size ? NULL : variable("HOME");
        if (home) add_text(path, home);
        else add_known_home(path, text + 1, size);
        text += 1 + size;
    }
    add_text(path, text);
}

static void add_state_folder(struct bytes *path) {
#ifdef __APPLE__
    add_expanded(path, "~/Library/Application Support/hooktray");
#else
    const char *state = variable("XDG_STATE_HOME");
    add_expanded(path, state && state[0] == '/' ? state : "~/.local/state");
    add_text(path, "/hooktray");
#endif
}

/* Whether it is ours and no link. A folder that was opened to others is closed again, so that a slip with `chmod`
   switches no guard off; what others put there meanwhile is not ours. */
static int is_ours(const char *path) {
    struct stat found;
    if (lstat(path, &found) || found.st_uid != getuid() || (found.st_mode & 0170000) == 0120000) return 0;
    int is_open = (found.st_mode & 0170000) == 0040000 && (found.st_mode & 022);
    return !is_open || !chmod(path, 0700);
}

/* Seconds since this file or folder changed, 0 when that cannot be known; -1 when it is not there. */
static int64_t age_of(const char *path) {
    struct stat found;
    struct timespec now;
    if (lstat(path, &found)) return errno == ENOENT || errno == ENOTDIR ? -1 : 0;
    if (clock_gettime(CLOCK_REALTIME, &now) || now.tv_sec < found.st_mtime) return 0;
    return now.tv_sec - found.st_mtime;
}

/* Adds to a file that is ours and shorter than `limit`; nothing where that cannot be done. */
static void append_line(const char *path, const struct bytes *line, long limit) {
    struct stat found;
    if (!lstat(path, &found) && ((found.st_mode & 0170000) != 0100000 || found.st_size >= limit)) return;
    int opened = open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (opened < 0) return;
    write_output(opened, line->at, line->size);
    close(opened);
}

static stream new_socket(int family) {
#ifdef __linux__
    return socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
#else
    stream made = socket(family, SOCK_STREAM, 0);
    if (made >= 0) fcntl(made, F_SETFD, FD_CLOEXEC), fcntl(made, F_SETFL, O_NONBLOCK);
    return made;
#endif
}

/* The name of the socket, in the folder by its descriptor where the kernel's limit is too short for the whole path. */
static int address_of(const char *place, struct sockaddr_un *address) {
    char *path = join_path(place, "tray.sock");
#ifdef __linux__
    if (length(path) >= sizeof address->sun_path) {
        struct bytes short_path = {0};
        int opened = open(place, O_PATH | O_CLOEXEC);
        if (opened < 0) return 0;
        add_text(&short_path, "/proc/self/fd/");
        add_text(&short_path, decimal((uint64_t)opened));
        path = join_path(text_of(&short_path), "tray.sock");
    }
#endif
    size_t size = length(path) + 1;
    if (size > sizeof address->sun_path) return 0;
    address->sun_family = AF_UNIX;
    for (size_t index = 0; index < size; index++) address->sun_path[index] = path[index];
    return 1;
}

static stream connect_socket(const char *place) {
    struct sockaddr_un address = {0};
    int64_t until = milliseconds() + ACK_LIMIT;
    if (!is_ours(join_path(place, "tray.sock")) || !address_of(place, &address)) return NO_STREAM;
    stream made = new_socket(AF_UNIX);
    while (made >= 0 && connect(made, (struct sockaddr *)&address, sizeof address)) {
        if ((errno != EAGAIN && errno != EINTR) || milliseconds() >= until) { /* EAGAIN: the listen queue is full */
            close(made);
            return NO_STREAM;
        }
        poll(NULL, 0, 5);
    }
    return made;
}

/* The tray wakes up while the input is still read, provided that this takes but a moment: it waits for a frame. */
static stream connect_early(const char *place) {
    struct pollfd input = {0, POLLIN, 0};
    return poll(&input, 1, 0) > 0 ? connect_socket(place) : NO_STREAM;
}

/* Whether the other end sent us away; nobody speaks before he was asked. */
static int is_peer_closed(stream reader) {
    unsigned char first;
    return !recv(reader, &first, 1, MSG_PEEK | MSG_DONTWAIT);
}

/* Where there is no Unix socket the tray leaves its port and a token: "PORT TOKEN". */
static stream connect_loopback(char *text, const char **token) {
    struct sockaddr_in address = {0};
    int can_read, can_write, error = 0, yes = 1;
    socklen_t size = sizeof error;
    if (!read_address(text, &address.sin_port, token)) return NO_STREAM;
    address.sin_family = AF_INET;
    put((unsigned char *)&address.sin_addr, INADDR_LOOPBACK, 4);
    stream made = new_socket(AF_INET);
    if (made < 0) return NO_STREAM;
    if (connect(made, (struct sockaddr *)&address, sizeof address)) {
        wait_for(NO_STREAM, made, errno == EINPROGRESS || errno == EINTR ? ACK_LIMIT : 0, &can_read, &can_write);
        if (!can_write || getsockopt(made, SOL_SOCKET, SO_ERROR, &error, &size) || error) {
            close(made);
            return NO_STREAM;
        }
    }
    setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    return made;
}

static void close_stream(stream opened) {
    close(opened);
}

/* Room for a long payload, as much as the system gives: relay and tray then need not wait for each other as often. */
static void widen(stream writer) {
    int room = SOCKET_ROOM;
    setsockopt(writer, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
}

static long send_some(stream writer, const struct piece unsent[2]) {
    struct iovec parts[2];
    int count = 0;
    for (int index = 0; index < 2; index++)
        if (unsent[index].size) parts[count++] = (struct iovec){(void *)unsent[index].at, unsent[index].size};
    ssize_t sent = writev(writer, parts, count);
    if (sent >= 0) return sent;
    return errno == EAGAIN || errno == EINTR ? WOULD_BLOCK : BROKEN;
}

/* Stay awake while the tray looks at most events: to fall asleep and be woken takes as long. Others go first. */
static void spin_briefly(stream reader) {
#ifdef __linux__
    struct timespec from, now;
    unsigned char first;
    clock_gettime(CLOCK_MONOTONIC, &from);
    do {
        if (recv(reader, &first, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 || errno != EAGAIN) return;
        sched_yield();
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - from.tv_sec) * 1000000000L + now.tv_nsec - from.tv_nsec < 500000L);
#else
    (void)reader;
#endif
}

static long receive(stream reader, unsigned char *at, size_t room) {
    ssize_t size = read(reader, at, room);
    if (size >= 0) return size;
    return errno == EAGAIN || errno == EINTR ? WOULD_BLOCK : BROKEN;
}

/* What the agent left open is not for a process that may outlive it. */
static void close_inherited(void) {
#if defined(__linux__) && defined(SYS_close_range)
    if (!syscall(SYS_close_range, 3, ~0U, 0)) return;
#endif
    for (int opened = 3; opened < 4096; opened++) close(opened);
}

static int start_one_shot(char **argv, struct piece unsent[2], stream *reader, stream *writer) {
    int input[2], output[2];
    (void)unsent; /* is written by whoever calls */
    if (pipe(input)) return 0;
    if (pipe(output)) return 0;
    pid_t pid = fork();
    if (pid < 0) return 0;
    if (pid == 0) {
        int null_device = open("/dev/null", O_RDWR);
        dup2(input[0], 0);
        dup2(output[1], 1);
        dup2(null_device, 2);
        close_inherited();
        signal(SIGPIPE, SIG_DFL);
        execve(argv[0], argv, environ);
        _exit(127);
    }
    close(input[0]);
    close(output[1]);
    fcntl(input[1], F_SETFL, O_NONBLOCK);
    *reader = output[0];
    *writer = input[1];
    return 1;
}
