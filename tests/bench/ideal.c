/* The ideal tray, to compare ours with: it takes each event's frame and answers "no opinion" at once.

       ideal SOCKET

   No tray can be faster than what the same relay takes with this one. tray/ipc/frames.py shows the wire. */

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { PREFIX_SIZE = 17, CHUNK = 256 * 1024, BACKLOG = 512 };

/* An acknowledgement of 60 s, then exit code 0 with nothing on stdout and stderr. */
static const unsigned char ANSWER[] = {'A', 0, 0, 0xea, 0x60, 'R', 0, 0, 0, 0, 0, 0, 0, 0, 0};

static uint64_t number(const unsigned char *at, int size) {
    uint64_t found = 0;
    while (size--)
        found = found << 8 | *at++;
    return found;
}

static void answer(int connection) {
    static unsigned char received[CHUNK];
    uint64_t size = 0, expected = PREFIX_SIZE;
    while (size < expected) {
        /* Only the prefix has to stay: what follows may overwrite itself. */
        size_t at = size < PREFIX_SIZE ? (size_t)size : PREFIX_SIZE;
        ssize_t count = read(connection, received + at, CHUNK - at);
        if (count <= 0)
            return;
        size += (uint64_t)count;
        if (expected == PREFIX_SIZE && size >= PREFIX_SIZE)
            expected += number(received + 5, 4) + number(received + 9, 8);
    }
    if (write(connection, ANSWER, sizeof ANSWER) != (ssize_t)sizeof ANSWER)
        perror("ideal: an answer did not leave");
}

int main(int count, char **words) {
    struct sockaddr_un place = {.sun_family = AF_UNIX};
    if (count != 2 || strlen(words[1]) >= sizeof place.sun_path) {
        fprintf(stderr, "usage: ideal SOCKET\n");
        return 2;
    }
    strcpy(place.sun_path, words[1]);
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&place, sizeof place) || listen(listener, BACKLOG)) {
        perror("ideal");
        return 1;
    }
    for (;;) {
        int connection = accept(listener, NULL, NULL);
        if (connection < 0)
            continue;
        answer(connection);
        close(connection);
    }
}
