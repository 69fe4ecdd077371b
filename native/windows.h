/* The system below the relay on Windows; relay.c includes it. Compiled for every release, and not run by its authors. */

#define WIN32_LEAN_AND_MEAN
#include <winsock2.h>
#include <ws2tcpip.h>
#include <windows.h>
#include <bcrypt.h>
#include <tlhelp32.h>

typedef intptr_t stream; /* a socket, or the end of a pipe that is read */

enum { NO_STREAM = -1, BROKEN = -1, WOULD_BLOCK = -2, DAY = 24 * 3600 * 1000, PATH_ROOM = 32768, SEPARATOR = '\\' };

static HANDLE answers; /* of `hooktray once`: the one stream that is no socket */

static _Noreturn void leave(int code) {
    ExitProcess((UINT)code);
}

static int64_t milliseconds(void) {
    return (int64_t)GetTickCount64();
}

static void prepare(void) {}

/* UTF-16 to UTF-8, with halves of pairs as they stand, as Python's "surrogatepass" has them. */
static void add_wide(struct bytes *text, const wchar_t *wide) {
    for (; *wide; wide++) {
        uint32_t code = *wide;
        if (code >> 10 == 0x36 && wide[1] >> 10 == 0x37) code = 0x10000 + ((code & 0x3ff) << 10 | (*++wide & 0x3ff));
        unsigned char part[4];
        int size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
        for (int at = size - 1; at > 0; at--, code >>= 6) part[at] = (unsigned char)(0x80 | (code & 0x3f));
        part[0] = (unsigned char)(size == 1 ? code : (0xf00u >> size & 0xff) | code);
        add(text, part, (size_t)size);
    }
}

static char *narrow(const wchar_t *wide) {
    struct bytes text = {0};
    add_wide(&text, wide);
    return text_of(&text);
}

static wchar_t *wide_of(const char *text) {
    int size = MultiByteToWideChar(CP_UTF8, 0, text, -1, NULL, 0);
    wchar_t *wide = size > 0 ? malloc((size_t)size * sizeof *wide) : NULL;
    if (!wide) give_up();
    MultiByteToWideChar(CP_UTF8, 0, text, -1, wide, size);
    return wide;
}

static char **arguments_of(int count, wchar_t **words) {
    char **argv = calloc((size_t)count + 2, sizeof *argv);
    if (!argv) leave(0);
    for (int index = 0; index < count; index++) argv[index] = narrow(words[index]);
    return argv;
}

/* A pipe's end cannot be waited for, so it is looked at again and again; its end is met when it is read. */
static void wait_for(stream reader, stream writer, int64_t ms, int *can_read, int *can_write) {
    if (answers && reader == (stream)answers) {
        int64_t until = milliseconds() + ms;
        DWORD size = 0;
        *can_write = 0;
        for (;;) {
            *can_read = !PeekNamedPipe(answers, NULL, 0, NULL, &size, NULL) || size;
            if (*can_read || milliseconds() >= until) return;
            Sleep(2);
        }
    }
    fd_set readers, writers;
    struct timeval left = {0, 0};
    FD_ZERO(&readers);
    FD_ZERO(&writers);
    if (reader != NO_STREAM) FD_SET((SOCKET)reader, &readers);
    if (writer != NO_STREAM) FD_SET((SOCKET)writer, &writers);
    ms = ms < 0 ? 0 : ms > DAY ? DAY : ms;
    left.tv_sec = (long)(ms / 1000), left.tv_usec = (long)(ms % 1000 * 1000);
    if (select(0, &readers, &writers, NULL, &left) < 0) FD_ZERO(&readers), FD_ZERO(&writers);
    *can_read = reader != NO_STREAM && FD_ISSET((SOCKET)reader, &readers);
    *can_write = writer != NO_STREAM && FD_ISSET((SOCKET)writer, &writers);
}

static int read_whole(HANDLE opened, struct bytes *text) {
    for (;;) {
        DWORD size = 0;
        reserve(text, 64 * 1024);
        if (!ReadFile(opened, text->at + text->size, 64 * 1024, &size, NULL))
            return GetLastError() == ERROR_BROKEN_PIPE || GetLastError() == ERROR_INVALID_HANDLE;
        if (!size) return 1;
        text->size += size;
    }
}

static int read_input(struct bytes *payload) {
    return read_whole(GetStdHandle(STD_INPUT_HANDLE), payload);
}

static void write_whole(HANDLE opened, const unsigned char *text, size_t size) {
    while (size) {
        DWORD sent = 0;
        if (!WriteFile(opened, text, size < CHUNK ? (DWORD)size : CHUNK, &sent, NULL)) return;
        text += sent, size -= sent;
    }
}

static void write_output(int descriptor, const unsigned char *text, size_t size) {
    write_whole(GetStdHandle(descriptor == 1 ? STD_OUTPUT_HANDLE : STD_ERROR_HANDLE), text, size);
}

static void fill_randomly(unsigned char *at, size_t size) {
    if (BCryptGenRandom(NULL, at, (ULONG)size, BCRYPT_USE_SYSTEM_PREFERRED_RNG)) give_up();
}

static uint64_t parent_id(void) {
    HANDLE all = CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0);
    PROCESSENTRY32W found = {.dwSize = sizeof found};
    uint64_t parent = 0;
    if (all == INVALID_HANDLE_VALUE) return 0;
    for (BOOL more = Process32FirstW(all, &found); more && !parent; more = Process32NextW(all, &found))
        if (found.th32ProcessID == GetCurrentProcessId()) parent = found.th32ParentProcessID;
    CloseHandle(all);
    return parent;
}

static const char *variable(const char *name) {
    wchar_t *wide = wide_of(name);
    DWORD room = GetEnvironmentVariableW(wide, NULL, 0);
    wchar_t *value = room ? malloc(room * sizeof *value) : NULL;
    return value && GetEnvironmentVariableW(wide, value, room) < room ? narrow(value) : NULL;
}

static void add_environment(struct bytes *frame) {
    wchar_t *all = GetEnvironmentStringsW();
    for (wchar_t *entry = all; entry && *entry; entry += wcslen(entry) + 1) add_line(frame, "", narrow(entry));
}

static void add_working_folder(struct bytes *frame) {
    static wchar_t path[PATH_ROOM];
    DWORD size = GetCurrentDirectoryW(PATH_ROOM, path);
    add_line(frame, "cwd=", size && size < PATH_ROOM ? narrow(path) : "");
}

static int read_file(const char *path, struct bytes *text) {
    DWORD sharing = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
    HANDLE opened = CreateFileW(wide_of(path), GENERIC_READ, sharing, NULL, OPEN_EXISTING, 0, NULL);
    if (opened == INVALID_HANDLE_VALUE) return 0;
    int is_read = read_whole(opened, text);
    CloseHandle(opened);
    return is_read;
}

/* 0, since the table has no such row here; -1 when it is not there. */
static int64_t age_of(const char *path) {
    return GetFileAttributesW(wide_of(path)) == INVALID_FILE_ATTRIBUTES ? -1 : 0;
}

/* Adds to a file that is shorter than `limit`; nothing where that cannot be done. */
static void append_line(const char *path, const struct bytes *line, long limit) {
    DWORD sharing = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, written;
    LARGE_INTEGER size;
    HANDLE opened = CreateFileW(wide_of(path), FILE_APPEND_DATA, sharing, NULL, OPEN_ALWAYS, 0, NULL);
    if (opened == INVALID_HANDLE_VALUE) return;
    if (GetFileSizeEx(opened, &size) && size.QuadPart < limit)
        WriteFile(opened, line->at, (DWORD)line->size, &written, NULL);
    CloseHandle(opened);
}

/* Where this program is; NULL when the system does not say. */
static char *own_path(void) {
    static wchar_t path[PATH_ROOM];
    DWORD size = GetModuleFileNameW(NULL, path, PATH_ROOM);
    return size && size < PATH_ROOM ? narrow(path) : NULL;
}

static void add_expanded(struct bytes *path, const char *text) {
    const char *home = text[0] == '~' && (!text[1] || text[1] == '/' || text[1] == '\\') ? variable("USERPROFILE") : NULL;
    if (home) add_text(path, home), text++;
    add_text(path, text);
}

static void add_state_folder(struct bytes *path) {
    const char *local = variable("LOCALAPPDATA");
    if (!local) give_up();
    add_text(path, local);
    add_text(path, "\\hooktray");
}

/* The profile folder is closed to other users already. */
static int is_ours(const char *place) {
    return GetFileAttributesW(wide_of(place)) != INVALID_FILE_ATTRIBUTES;
}

static stream connect_socket(const char *place) {
    (void)place; /* Python has no Unix sockets here, so the tray listens on a loopback port */
    return NO_STREAM;
}

static stream connect_early(const char *place) {
    return connect_socket(place);
}

static int is_peer_closed(stream reader) {
    (void)reader; /* nothing is connected early */
    return 0;
}

static stream connect_loopback(char *text, const char **token) {
    WSADATA started;
    struct sockaddr_in address = {0};
    int can_read, can_write;
    u_long yes = 1;
    BOOL at_once = TRUE;
    if (!read_address(text, &address.sin_port, token) || WSAStartup(MAKEWORD(2, 2), &started)) return NO_STREAM;
    address.sin_family = AF_INET;
    put((unsigned char *)&address.sin_addr, INADDR_LOOPBACK, 4);
    SOCKET made = socket(AF_INET, SOCK_STREAM, 0);
    if (made == INVALID_SOCKET) return NO_STREAM;
    SetHandleInformation((HANDLE)made, HANDLE_FLAG_INHERIT, 0);
    ioctlsocket(made, FIONBIO, &yes);
    if (connect(made, (struct sockaddr *)&address, sizeof address)) {
        wait_for(NO_STREAM, (stream)made, WSAGetLastError() == WSAEWOULDBLOCK ? ACK_LIMIT : 0, &can_read, &can_write);
        if (!can_write) {
            closesocket(made);
            return NO_STREAM;
        }
    }
    setsockopt(made, IPPROTO_TCP, TCP_NODELAY, (char *)&at_once, sizeof at_once);
    return (stream)made;
}

static void close_stream(stream opened) {
    if (opened != NO_STREAM && opened != (stream)answers) closesocket((SOCKET)opened);
}

static void widen(stream writer) {
    (void)writer; /* the system does that by itself */
}

static long send_some(stream writer, const struct piece unsent[2]) {
    WSABUF parts[2];
    DWORD count = 0, sent = 0;
    for (int index = 0; index < 2; index++) {
        ULONG size = unsent[index].size < CHUNK ? (ULONG)unsent[index].size : CHUNK;
        if (size) parts[count++] = (WSABUF){size, (char *)unsent[index].at};
        if (size < unsent[index].size) break;
    }
    if (!WSASend((SOCKET)writer, parts, count, &sent, 0, NULL, NULL)) return (long)sent;
    return WSAGetLastError() == WSAEWOULDBLOCK ? WOULD_BLOCK : BROKEN;
}

/* Nothing is known here of how long it takes to be woken. */
static void spin_briefly(stream reader) {
    (void)reader;
}

static long receive(stream reader, unsigned char *at, size_t room) {
    DWORD size = 0;
    if (answers && reader == (stream)answers)
        return ReadFile(answers, at, (DWORD)room, &size, NULL) ? (long)size : BROKEN;
    int got = recv((SOCKET)reader, (char *)at, (int)room, 0);
    if (got >= 0) return got;
    return WSAGetLastError() == WSAEWOULDBLOCK ? WOULD_BLOCK : BROKEN;
}

/* One word of a command line, quoted as the C runtime of the other side will read it. */
static void add_quoted(struct bytes *text, const char *word) {
    size_t slashes = 0;
    add_text(text, text->size ? " \"" : "\"");
    for (; *word; word++) {
        if (*word == '"')
            for (slashes++; slashes; slashes--) add_text(text, "\\"); /* each backslash before it, and the quote */
        add(text, word, 1);
        slashes = *word == '\\' ? slashes + 1 : 0;
    }
    for (; slashes; slashes--) add_text(text, "\\");
    add_text(text, "\"");
}

static struct piece input_piece;

static DWORD WINAPI write_input(void *opened) {
    write_whole(opened, input_piece.at, input_piece.size);
    CloseHandle(opened);
    return 0;
}

/* Its input is written by a thread, because a pipe's end cannot be waited for; so nothing is left to be sent. */
static int start_one_shot(char **argv, struct piece unsent[2], stream *reader, stream *writer) {
    SECURITY_ATTRIBUTES inherited = {sizeof inherited, NULL, TRUE};
    HANDLE theirs, ours, null_device, output;
    struct bytes words = {0};
    PROCESS_INFORMATION made;
    if (!CreatePipe(&theirs, &ours, &inherited, 0) || !CreatePipe(&answers, &output, &inherited, 0)) return 0;
    SetHandleInformation(ours, HANDLE_FLAG_INHERIT, 0);
    SetHandleInformation(answers, HANDLE_FLAG_INHERIT, 0);
    null_device = CreateFileW(L"NUL", GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE, &inherited, OPEN_EXISTING, 0, NULL);
    for (char **word = argv; *word; word++) add_quoted(&words, *word);
    STARTUPINFOW start = {.cb = sizeof start, .dwFlags = STARTF_USESTDHANDLES};
    start.hStdInput = theirs, start.hStdOutput = output, start.hStdError = null_device;
    if (!CreateProcessW(NULL, wide_of(text_of(&words)), NULL, NULL, TRUE, CREATE_NO_WINDOW, NULL, NULL, &start, &made))
        return 0;
    CloseHandle(theirs);
    CloseHandle(output);
    input_piece = unsent[0];
    unsent[0].size = 0;
    if (!CreateThread(NULL, 0, write_input, ours, 0, NULL)) return 0;
    *reader = (stream)answers;
    *writer = NO_STREAM;
    return 1;
}
