/* The native relay: an agent's event to the tray and the tray's answer back; without a tray, to `hooktray once`.

       hooktray-relay [--home DIR | --state DIR] AGENT [EVENT]
           the payload on stdin, the answer on stdout, stderr and in the exit code

   It is tray/relay.py in C, for the speed: the same words, the same waits, the same outcomes, and the same tests.
   tray/ipc/frames.py shows the wire. After any failure here, the agent gets its neutral answer and exit 0: the answer in
   relay.table for its words, else silence. tray/agents/relay_table.py describes the table.

   This file is the relay; posix.h or windows.h is the system below it. On Linux linux.c stands in for libc, whose start
   would take longer than all that happens here. Memory is never given back: the process lasts some milliseconds. */

#define _GNU_SOURCE /* O_PATH, close_range and their like */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

enum {
    ACK_LIMIT = 300,         /* ms without an acknowledgement or any progress until a tray counts as hung */
    STDIN_LIMIT = 10 * 1000, /* ms without a byte or the end of stdin: the end will not come any more */
    CHUNK = 256 * 1024,
    PAYLOAD_LIMIT = 16 * 1024 * 1024, /* as in tray/model/event.py: of more, the tray and `once` drop every byte */
    ACK_SIZE = 5,
    ANSWER_HEADER_SIZE = 15 /* bytes up to its stdout, with the acknowledgement's five before it */
};

/* Bytes that grow. What is `at` ends with no NUL unless one was added. */
struct bytes {
    unsigned char *at;
    size_t size, room;
};

/* What is still to be sent. */
struct piece {
    const unsigned char *at;
    size_t size;
};

struct answer {
    int code;
    struct piece out, error;
};

/* What the relay was asked to do, and what it was given. */
static struct {
    char *program; /* as it was called; NULL when the command line is empty */
    char **given;  /* every word of the command line */
    int given_count;
    const char *option, *named; /* --home or --state and its folder, as the command line has it; "" when it has none */
    char **words;     /* AGENT [EVENT] */
    int word_count;
    char id[33];
    int64_t started; /* ms */
    struct bytes payload;
    int is_input_taken; /* stdin was read, to its end or to an error */
} request;

static _Noreturn void give_up(void);

static size_t length(const char *text) {
    size_t size = 0;
    while (text[size]) size++;
    return size;
}

static int is_same(const char *one, const char *other) {
    while (*one && *one == *other) one++, other++;
    return *one == *other;
}

static int begins(const char *text, const char *with) {
    while (*with && *text == *with) text++, with++;
    return !*with;
}

/* Room for `size` bytes more. */
static void reserve(struct bytes *bytes, size_t size) {
    size_t room = bytes->room ? bytes->room : 512;
    if (bytes->room - bytes->size >= size) return;
    while (room - bytes->size < size) {
        if (room > SIZE_MAX / 2) give_up();
        room *= 2;
    }
    bytes->at = realloc(bytes->at, room);
    if (!bytes->at) give_up();
    bytes->room = room;
}

static void add(struct bytes *bytes, const void *from, size_t size) {
    const unsigned char *source = from;
    reserve(bytes, size);
    for (size_t done = 0; done < size; done++) bytes->at[bytes->size + done] = source[done];
    bytes->size += size;
}

static void add_text(struct bytes *bytes, const char *text) {
    add(bytes, text, length(text));
}

static void add_line(struct bytes *bytes, const char *key, const char *value) {
    add_text(bytes, key);
    add(bytes, value, length(value) + 1); /* with the NUL that ends it */
}

/* The text as a C string, once nothing more is added. */
static char *text_of(struct bytes *bytes) {
    add(bytes, "", 1);
    return (char *)bytes->at;
}

static const char *decimal(uint64_t number) {
    static char digits[21];
    char *at = digits + sizeof digits - 1;
    do *--at = (char)('0' + number % 10);
    while (number /= 10);
    return at;
}

static void put(unsigned char *at, uint64_t number, int size) {
    while (size--) at[size] = (unsigned char)number, number >>= 8;
}

static uint64_t get(const unsigned char *at, int size) {
    uint64_t number = 0;
    while (size--) number = number << 8 | *at++;
    return number;
}

static char *join_path(const char *place, const char *name) {
    struct bytes path = {0};
    add_text(&path, place);
    add_text(&path, "/");
    add_text(&path, name);
    return text_of(&path);
}

/* "PORT TOKEN", and nothing else; the port in the order of the wire. */
static int read_address(char *text, uint16_t *port, const char **token) {
    unsigned long number = 0;
    char *words[3] = {"", "", ""};
    int count = 0;
    for (char *at = text; *at && count < 3; count++) {
        while (*at && *(unsigned char *)at <= ' ') at++;
        if (!*at) break;
        words[count] = at;
        while (*(unsigned char *)at > ' ') at++;
        if (*at) *at++ = 0;
    }
    for (char *at = words[0]; *at; at++) {
        if (*at < '0' || *at > '9' || number > 65535) return 0;
        number = 10 * number + (unsigned long)(*at - '0');
    }
    put((unsigned char *)port, number, 2);
    *token = words[1];
    return count == 2 && number <= 65535;
}

#ifdef _WIN32
#include "windows.h"
#else
#include "posix.h"
#endif

/* Beside the program; for a program in `bin`, among the shared files of the same installation. */
static const char *const table_places[] = {"relay.table", "../share/hooktray/relay.table"};

enum neutral { NEUTRAL_SILENCE, NEUTRAL_ECHO, NEUTRAL_BYTES }; /* silence is 0 */

static int is_text(struct piece piece, const char *text) {
    if (piece.size != length(text)) return 0;
    for (size_t index = 0; index < piece.size; index++)
        if (piece.at[index] != (unsigned char)text[index]) return 0;
    return 1;
}

static int is_among(struct piece piece, int count, char **words) {
    for (int index = 0; index < count; index++)
        if (is_text(piece, words[index])) return 1;
    return 0;
}

/* The part before the next `border`. `rest` becomes the part behind it; its `at` is NULL if there was no border. */
static struct piece next_part(struct piece *rest, unsigned char border) {
    struct piece part = {rest->at, 0};
    while (part.size < rest->size && part.at[part.size] != border) part.size++;
    int is_last = part.size == rest->size;
    *rest = is_last ? (struct piece){NULL, 0} : (struct piece){part.at + part.size + 1, rest->size - part.size - 1};
    return part;
}

/* The value of a hexadecimal digit; -1 for another character. */
static int digit_of(unsigned char sign) {
    if (sign >= '0' && sign <= '9') return sign - '0';
    sign |= 0x20;
    return sign >= 'a' && sign <= 'f' ? sign - 'a' + 10 : -1;
}

/* Decodes a field: `%` and two hexadecimal digits are one byte, any other byte is itself. 0 = damaged. */
static int read_escaped(struct piece field, struct bytes *text) {
    text->size = 0;
    for (size_t at = 0; at < field.size; at++) {
        unsigned char byte = field.at[at];
        if (byte == '%') {
            if (field.size - at < 3) return 0;
            int high = digit_of(field.at[at + 1]), low = digit_of(field.at[at + 2]);
            if (high < 0 || low < 0) return 0;
            byte = (unsigned char)(high << 4 | low);
            at += 2;
        }
        add(text, &byte, 1);
    }
    return 1;
}

/* The neutral answer in a line of the table for these words; NEUTRAL_SILENCE for any other line. */
static enum neutral read_row(struct piece line, int count, char **words, struct bytes *fixed) {
    struct piece fields[4] = {{NULL, 0}};
    int found = 0;
    while (line.size && line.at[line.size - 1] == '\r') line.size--;
    if (!is_text(next_part(&line, '='), "neutral")) return NEUTRAL_SILENCE;
    while (line.at && found < 4) fields[found++] = next_part(&line, '\x1f');
    if (line.at || !is_among(fields[0], count, words) || !is_among(fields[1], count, words)) return NEUTRAL_SILENCE;
    if (found == 3 && is_text(fields[2], "echo")) return NEUTRAL_ECHO;
    if (found == 4 && is_text(fields[2], "bytes") && read_escaped(fields[3], fixed)) return NEUTRAL_BYTES;
    return NEUTRAL_SILENCE;
}

/* Cuts a path down to its folder, in place; NULL when it has none. */
static char *folder_of(char *path) {
    char *last = NULL;
    for (char *at = path; at && *at; at++)
        if (*at == '/' || *at == SEPARATOR) last = at;
    if (last) *last = 0;
    return last ? path : NULL;
}

static int read_table(struct bytes *table) {
    char *place = folder_of(own_path());
    for (int index = 0; place && index < 2; index++) {
        table->size = 0;
        if (read_file(join_path(place, table_places[index]), table)) return 1;
    }
    return 0;
}

/* The neutral answer for the agent and event among these words, in any order. */
static enum neutral find_neutral(int count, char **words, struct bytes *fixed) {
    enum neutral found = NEUTRAL_SILENCE;
    struct bytes table = {0};
    if (!read_table(&table)) return NEUTRAL_SILENCE;
    for (struct piece rest = {table.at, table.size}; rest.at && !found;)
        found = read_row(next_part(&rest, '\n'), count, words, fixed);
    return found;
}

/* No opinion: writes the table's answer for the words of the command line, else nothing. */
static _Noreturn void give_up(void) {
    static int is_under_way;
    struct bytes fixed = {0};
    if (is_under_way) leave(0); /* out of memory for the table or the input */
    is_under_way = 1;
    if (!request.is_input_taken) read_input(&request.payload);
    enum neutral found = find_neutral(request.given_count, request.given, &fixed);
    if (found == NEUTRAL_ECHO) fixed = request.payload;
    if (found) write_output(1, fixed.at, fixed.size);
    leave(0);
}

/* Anything but [--home DIR | --state DIR] AGENT [EVENT] is a usage error, which must not disturb the agent. */
static int read_arguments(int count, char **words) {
    request.given = words;
    request.given_count = count;
    request.option = request.named = "";
    static const char *const known[] = {"--home", "--state"};
    for (int index = 0; index < 2 && count && !request.option[0]; index++) {
        const char *option = known[index], *rest = begins(words[0], option) ? words[0] + length(option) : " ";
        if (rest[0] && rest[0] != '=') continue;
        if (!rest[0] && count < 2) break;
        request.option = option;
        request.named = rest[0] ? rest + 1 : words[1];
        int taken = rest[0] ? 1 : 2;
        words += taken, count -= taken;
    }
    request.words = words;
    request.word_count = count;
    return (count == 1 || count == 2) && words[0][0] != '-';
}

/* The folder of the tray's socket, by the same rules as tray/paths.py. */
static char *folder(void) {
    const char *home = request.named[0] ? request.named : variable("HOOKTRAY_HOME");
    struct bytes path = {0};
    if (home && home[0]) {
        add_expanded(&path, home);
        if (!is_same(request.option, "--state")) add_text(&path, "/state");
    } else {
        add_state_folder(&path);
    }
    return text_of(&path);
}

static void make_event_id(void) {
    unsigned char noise[16];
    fill_randomly(noise, sizeof noise);
    for (int index = 0; index < 16; index++) {
        request.id[2 * index] = "0123456789abcdef"[noise[index] >> 4];
        request.id[2 * index + 1] = "0123456789abcdef"[noise[index] & 15];
    }
}

/* The frame up to the payload: its prefix, then the fields, then the environment. */
static struct bytes frame_header(const char *token) {
    struct bytes frame = {0};
    reserve(&frame, 17);
    frame.size = 17;
    add_line(&frame, "agent=", request.words[0]);
    add_line(&frame, "event=", request.word_count > 1 ? request.words[1] : "");
    add_line(&frame, "id=", request.id);
    add_line(&frame, "parent=", decimal(parent_id()));
    if (token[0]) add_line(&frame, "token=", token);
    add_working_folder(&frame);
    add_line(&frame, "", "");
    add_environment(&frame);
    for (int index = 0; index < 5; index++) frame.at[index] = (unsigned char)"HKT1E"[index];
    put(frame.at + 5, frame.size - 17, 4);
    put(frame.at + 9, request.payload.size, 8);
    return frame;
}

enum parse_state { INVALID, INCOMPLETE, COMPLETE };

/* The answer behind the acknowledgement, once all of it is there. */
static enum parse_state read_answer(const struct bytes *received, struct answer *answer) {
    const unsigned char *at = received->at;
    if (received->size > 0 && at[0] != 'A') return INVALID;
    if (received->size > ACK_SIZE && at[ACK_SIZE] != 'R') return INVALID;
    if (received->size < ANSWER_HEADER_SIZE) return INCOMPLETE;
    uint64_t out = get(at + 7, 4), error = get(at + 11, 4);
    if (received->size < ANSWER_HEADER_SIZE + out + error) return INCOMPLETE;
    answer->code = at[6];
    answer->out = (struct piece){at + ANSWER_HEADER_SIZE, (size_t)out};
    answer->error = (struct piece){at + ANSWER_HEADER_SIZE + out, (size_t)error};
    return COMPLETE;
}

static void advance(struct piece unsent[2], size_t sent) {
    for (int index = 0; index < 2; index++) {
        size_t part = sent < unsent[index].size ? sent : unsent[index].size;
        unsent[index].at += part, unsent[index].size -= part;
        sent -= part;
    }
}

/* Send and read at the same time: an answer may come early, and is valid even if sending fails. `received` may hold an
   acknowledgement already. 0 = no tray, or one that hangs, or that ended before it had answered. */
static int exchange(stream reader, stream writer, struct piece unsent[2], struct bytes *received,
                    struct answer *answer) {
    int64_t until = milliseconds() + ACK_LIMIT;
    int is_acknowledged = 0;
    enum parse_state state;
    long sent = writer == reader ? send_some(writer, unsent) : 0; /* as a rule a socket takes it all at once */
    if (sent == BROKEN) unsent[0].size = unsent[1].size = 0; /* its answer may still be there */
    if (sent > 0) advance(unsent, (size_t)sent);
    if (writer == reader && unsent[0].size + unsent[1].size == 0) spin_briefly(reader);
    while ((state = read_answer(received, answer)) == INCOMPLETE) {
        if (!is_acknowledged && received->size >= ACK_SIZE) {
            is_acknowledged = 1;
            until = request.started + (int64_t)get(received->at + 1, 4);
        }
        int has_more = unsent[0].size + unsent[1].size > 0, can_read, can_write;
        if (!has_more && writer != reader) {
            close_stream(writer); /* the end of its input; a connection stays open, since its end would be ours */
            writer = reader;
        }
        int64_t left = until - milliseconds();
        wait_for(reader, has_more ? writer : NO_STREAM, left, &can_read, &can_write);
        if (!can_read && (left <= 0 || !can_write)) return 0;
        if (can_write) {
            sent = send_some(writer, unsent);
            if (sent == BROKEN) unsent[0].size = unsent[1].size = 0;
            if (sent > 0) advance(unsent, (size_t)sent);
            if (!is_acknowledged) until = milliseconds() + ACK_LIMIT;
        }
        if (can_read) {
            reserve(received, received->room ? CHUNK : 4096); /* most answers are short */
            long size = receive(reader, received->at + received->size, received->room - received->size);
            if (size == 0 || size == BROKEN) return 0;
            if (size > 0) received->size += (size_t)size;
        }
    }
    return state == COMPLETE;
}

static int read_ours(const char *place, const char *name, struct bytes *text) {
    char *path = join_path(place, name);
    return is_ours(path) && read_file(path, text);
}

static int ask_tray(const char *place, stream connection, struct answer *answer) {
    struct bytes address = {0}, received = {0};
    const char *token = "";
    if (connection == NO_STREAM) connection = connect_socket(place);
    if (connection == NO_STREAM && read_ours(place, "tray.addr", &address))
        connection = connect_loopback(text_of(&address), &token);
    if (connection == NO_STREAM) return 0;
    struct bytes head = frame_header(token);
    struct piece unsent[2] = {{head.at, head.size}, {request.payload.at, request.payload.size}};
    int is_answered = exchange(connection, connection, unsent, &received, answer);
    close_stream(connection);
    return is_answered;
}

/* The value of the last line `key=…`, or "". The text is cut into lines on the way. */
static char *value_in(struct bytes *text, const char *key) {
    char *found = "";
    for (size_t at = 0, end; at < text->size; at = end + 1) {
        for (end = at; end < text->size && text->at[end] != '\n' && text->at[end] != 0;) end++;
        size_t last = end;
        while (last > at && text->at[last - 1] == '\r') last--;
        if (last < text->size) text->at[last] = 0;
        if (begins((char *)text->at + at, key)) found = (char *)text->at + at + length(key);
    }
    return found;
}

/* With `without_tray=once` in relay.conf the one-shot engine decides; its answer must be whole to count. */
static int ask_one_shot(const char *place, struct answer *answer) {
    struct bytes conf = {0}, received = {0};
    if (!read_ours(place, "relay.conf", &conf)) return 0;
    add(&conf, "\n", 2); /* a last line ends, too, and a NUL follows everything */
    char *mode = value_in(&conf, "without_tray="), *once = value_in(&conf, "once=");
    if (!is_same(mode, "once") || !once[0]) return 0;
    char *argv[64], *spent = (char *)decimal((uint64_t)(milliseconds() - request.started));
    char *options[] = {"--id", request.id, "--spent", spent, "--framed"};
    int count = 0;
    for (char *at = once; at; count++) {
        if (count == 32) return 0;
        argv[count] = at;
        while (*at && *at != '\x1f') at++;
        at = *at ? (*at = 0, at + 1) : NULL;
    }
    for (int index = 0; index < 5; index++) argv[count++] = options[index];
    for (int index = 0; index < request.word_count; index++) argv[count++] = request.words[index];
    argv[count] = NULL;
    stream reader, writer;
    struct piece unsent[2] = {{request.payload.at, request.payload.size}, {NULL, 0}};
    if (!start_one_shot(argv, unsent, &reader, &writer)) return 0;
    add(&received, "A\xff\xff\xff\xff", ACK_SIZE); /* it keeps its own deadline, and need not say so */
    return exchange(reader, writer, unsent, &received, answer);
}

/* The whole relay; returns the exit code. `words` is the command line, with the program first. */
static int relay(int count, char **words) {
    struct answer answer;
    struct bytes fixed = {0};
    request.started = milliseconds();
    prepare();
    if (count > 0) request.program = *words++, count--;
    int is_usage = read_arguments(count, words);
    char *place = is_usage ? folder() : NULL;
    stream early = place && is_ours(place) ? connect_early(place) : NO_STREAM;
    request.is_input_taken = 1;
    if (!read_input(&request.payload) || !is_usage) give_up();
    /* Closed when the input took too long for the tray. */
    if (early != NO_STREAM && is_peer_closed(early)) close_stream(early), early = NO_STREAM;
    if (early == NO_STREAM && !is_ours(place)) give_up();
    make_event_id();
    if (!ask_tray(place, early, &answer) && !ask_one_shot(place, &answer)) give_up();
    /* Only the relay still has such an input. */
    if (request.payload.size > PAYLOAD_LIMIT && find_neutral(request.word_count, request.words, &fixed) == NEUTRAL_ECHO)
        answer.out = (struct piece){request.payload.at, request.payload.size};
    write_output(1, answer.out.at, answer.out.size);
    write_output(2, answer.error.at, answer.error.size);
    return answer.code;
}

#ifdef _WIN32
int wmain(int count, wchar_t **words) {
    char **argv = arguments_of(count, words);
    leave(relay(count, argv));
}
#else
int main(int count, char **words) {
    leave(relay(count, words));
}
#endif
