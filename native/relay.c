/* The native relay: an agent's event to the tray and the tray's answer back; without a tray, to `hooktray once`.

       hooktray-hook [--home DIR | --state DIR] AGENT [EVENT]
           the payload on stdin, the answer on stdout, stderr and in the exit code

   It is tray/relay.py in C, for the speed: the same words, the same waits, the same outcomes, and the same tests.
   tray/ipc/frames.py shows the wire. relay.table beside this program says where the tray is and what the agents' answers
   are; tray/agents/relay_table.py describes it. When nobody has judged the event, the guards in the table decide, and
   without a guard that matches the agent gets its neutral answer and exit 0: that of the table, else silence.

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
    LONG_INPUT = 1024 * 1024,
    SOCKET_ROOM = 1024 * 1024, /* bytes under way to the tray */
    PAYLOAD_LIMIT = 16 * 1024 * 1024, /* as in tray/model/event.py: of more, the tray and `once` drop every byte */
    ACK_SIZE = 5,
    REMOVAL_AGE = 60, /* seconds: a package that is gone for less may be one that is just replaced */
    NOTES_LIMIT = 64 * 1024, /* bytes of each file of notes for the tray */
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
    int is_usage;       /* the command line is one of ours */
    int has_place;      /* the table says where the tray is, and the command line does not */
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

static int is_equal(struct piece one, struct piece other) {
    if (one.size != other.size) return 0;
    for (size_t index = 0; index < one.size; index++)
        if (one.at[index] != other.at[index]) return 0;
    return 1;
}

static struct piece piece_of(const char *text) {
    return (struct piece){(const unsigned char *)text, length(text)};
}

/* The table beside this program, read once; its `at` is NULL when there is none. */
static struct piece relay_table(void) {
    static struct bytes table;
    static int is_tried, is_there;
    if (!is_tried) {
        is_tried = 1;
        char *place = folder_of(own_path());
        for (int index = 0; place && index < 2 && !is_there; index++) {
            table.size = 0;
            is_there = read_file(join_path(place, table_places[index]), &table);
        }
    }
    return is_there && table.size ? (struct piece){table.at, table.size} : (struct piece){NULL, 0};
}

/* The next row of this kind, without its key; its `at` is NULL behind the last one. */
static struct piece next_row(struct piece *rest, const char *kind) {
    while (rest->at) {
        struct piece line = next_part(rest, '\n');
        while (line.size && line.at[line.size - 1] == '\r') line.size--;
        if (is_text(next_part(&line, '='), kind) && line.at) return line;
    }
    return (struct piece){NULL, 0};
}

/* The next row of this kind that begins with these fields; an `event` without `at` is any. The row is what follows. */
static struct piece next_row_of(struct piece *rest, const char *kind, struct piece agent, struct piece event) {
    for (;;) {
        struct piece row = next_row(rest, kind);
        if (!row.at) return row;
        if (is_equal(next_part(&row, '\x1f'), agent) && row.at &&
            (!event.at || is_equal(next_part(&row, '\x1f'), event)) && row.at)
            return row;
    }
}

/* The decoded text of the first row of this kind; NULL when there is none, or when it is damaged or empty. */
static char *table_text(const char *kind) {
    struct piece rest = relay_table(), row = next_row(&rest, kind);
    struct bytes text = {0};
    return row.at && row.size && read_escaped(row, &text) ? text_of(&text) : NULL;
}

/* A number of at most `most` digits; -1 for anything else. */
static int64_t number_of(struct piece field, size_t most) {
    int64_t number = 0;
    if (!field.size || field.size > most) return -1;
    for (size_t index = 0; index < field.size; index++) {
        if (field.at[index] < '0' || field.at[index] > '9') return -1;
        number = 10 * number + field.at[index] - '0';
    }
    return number;
}

/* The neutral answer for the agent and event among these words, in any order. */
static enum neutral find_neutral(int count, char **words, struct bytes *fixed) {
    enum neutral found = NEUTRAL_SILENCE;
    for (struct piece rest = relay_table(); rest.at && !found;)
        found = read_row(next_part(&rest, '\n'), count, words, fixed);
    return found;
}

/* A place in the payload's JSON. The functions below return 0 where the text cannot be understood. */
struct scan {
    const unsigned char *at, *end;
};

/* The sign that is next after blanks; -1 at the end. */
static int peek(struct scan *scan) {
    while (scan->at < scan->end && (*scan->at == ' ' || *scan->at == '\t' || *scan->at == '\n' || *scan->at == '\r'))
        scan->at++;
    return scan->at < scan->end ? *scan->at : -1;
}

static int take(struct scan *scan, int sign) {
    if (peek(scan) != sign) return 0;
    scan->at++;
    return 1;
}

/* Four hexadecimal digits; -1 for anything else. */
static long take_code(struct scan *scan) {
    long code = 0;
    if (scan->end - scan->at < 4) return -1;
    for (int count = 0; count < 4; count++) {
        int digit = digit_of(*scan->at++);
        if (digit < 0) return -1;
        code = code << 4 | digit;
    }
    return code;
}

/* As UTF-8; half of a pair as it stands. */
static void add_character(struct bytes *text, unsigned long code) {
    unsigned char part[4];
    int size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (int at = size - 1; at > 0; at--, code >>= 6) part[at] = (unsigned char)(0x80 | (code & 0x3f));
    part[0] = (unsigned char)(size == 1 ? code : (0xf00u >> size & 0xff) | code);
    add(text, part, (size_t)size);
}

/* What follows a backslash. */
static int take_escape(struct scan *scan, struct bytes *text) {
    static const char signs[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    if (scan->at == scan->end) return 0;
    unsigned char sign = *scan->at++;
    if (sign != 'u') {
        for (int index = 0; signs[index]; index++)
            if (signs[index] == (char)sign) return add(text, meant + index, 1), 1;
        return 0;
    }
    long code = take_code(scan);
    if (code < 0) return 0;
    if (code >> 10 == 0x36 && scan->end - scan->at >= 6 && scan->at[0] == '\\' && scan->at[1] == 'u') {
        struct scan ahead = {scan->at + 2, scan->end};
        long low = take_code(&ahead);
        if (low >> 10 == 0x37) {
            code = 0x10000 + ((code & 0x3ff) << 10 | (low & 0x3ff));
            *scan = ahead;
        }
    }
    add_character(text, (unsigned long)code);
    return 1;
}

static int take_string(struct scan *scan, struct bytes *text) {
    text->size = 0;
    if (!take(scan, '"')) return 0;
    while (scan->at < scan->end) {
        unsigned char sign = *scan->at++;
        if (sign == '"') return 1;
        if (sign < ' ') return 0;
        if (sign != '\\') add(text, &sign, 1);
        else if (!take_escape(scan, text)) return 0;
    }
    return 0;
}

static int skip_string(struct scan *scan) {
    for (scan->at++; scan->at < scan->end; scan->at++) {
        if (*scan->at == '"') return scan->at++, 1;
        if (*scan->at < ' ') return 0;
        if (*scan->at == '\\' && ++scan->at == scan->end) return 0;
    }
    return 0;
}

static int is_of_scalar(unsigned char sign) {
    return (sign >= '0' && sign <= '9') || ((sign | 0x20) >= 'a' && (sign | 0x20) <= 'z') || sign == '+' ||
           sign == '-' || sign == '.';
}

static int skip_value(struct scan *scan) {
    int sign = peek(scan), depth = 0;
    const unsigned char *from = scan->at;
    if (sign == '"') return skip_string(scan);
    if (sign != '{' && sign != '[') {
        while (scan->at < scan->end && is_of_scalar(*scan->at)) scan->at++;
        return scan->at > from;
    }
    while (scan->at < scan->end) {
        sign = *scan->at;
        if (sign == '"') {
            if (!skip_string(scan)) return 0;
            continue;
        }
        scan->at++;
        depth += (sign == '{' || sign == '[') - (sign == '}' || sign == ']');
        if (!depth) return 1;
    }
    return 0;
}

/* What is looked for in the payload: the keys that lead to it, each inside the object of the one before. */
struct search {
    struct bytes keys[4];
    int count;
    struct bytes text; /* what was found there, if it is a text */
    int is_there, is_text;
};

/* One object. A key on the way that is given twice leads nowhere. */
static int scan_object(struct scan *scan, struct search *search, int level) {
    struct bytes key = {0};
    int is_met = 0;
    if (!take(scan, '{')) return 0;
    if (take(scan, '}')) return 1;
    do {
        if (!take_string(scan, &key) || !take(scan, ':')) return 0;
        struct bytes *wanted = &search->keys[level];
        int is_wanted = is_equal((struct piece){key.at, key.size}, (struct piece){wanted->at, wanted->size});
        int is_last = level == search->count - 1, sign = peek(scan), is_understood;
        if (is_wanted && is_met++) return 0;
        if (is_wanted && is_last) search->is_there = 1;
        if (is_wanted && is_last && sign == '"') is_understood = search->is_text = take_string(scan, &search->text);
        else if (is_wanted && !is_last && sign == '{') is_understood = scan_object(scan, search, level + 1);
        else is_understood = skip_value(scan);
        if (!is_understood) return 0;
    } while (take(scan, ','));
    return take(scan, '}');
}

/* Looks for the keys in these fields of a row. 0 = the row is damaged, or the payload is no object. */
static int search_payload(struct piece fields, struct search *search) {
    struct scan scan = {request.payload.at, request.payload.at + request.payload.size};
    for (search->count = 0; fields.at; search->count++)
        if (search->count == 4 || !read_escaped(next_part(&fields, '\x1f'), &search->keys[search->count])) return 0;
    return search->count && request.payload.size && scan_object(&scan, search, 0) && peek(&scan) < 0;
}

/* The text that the first row of this kind for this agent leads to; its `at` is NULL when there is none. */
static struct piece named_in_payload(const char *kind, struct piece agent) {
    struct search search = {0};
    struct piece rest = relay_table(), row = next_row_of(&rest, kind, agent, (struct piece){NULL, 0});
    if (!row.at || !search_payload(row, &search) || !search.is_text || !search.text.size)
        return (struct piece){NULL, 0};
    return (struct piece){search.text.at, search.text.size};
}

/* The agent that a mark in the payload identifies; else the one in the command line. */
static struct piece find_agent(int *is_marked) {
    struct piece rest = relay_table(), row;
    *is_marked = 0;
    while ((row = next_row(&rest, "mark")).at) {
        struct search search = {0};
        struct piece agent = next_part(&row, '\x1f');
        if (!row.at || !is_text(next_part(&row, '\x1f'), "key") || !row.at) continue;
        if (!search_payload(row, &search) || !search.is_there) continue;
        *is_marked = !is_text(agent, request.words[0]);
        return agent;
    }
    return piece_of(request.words[0]);
}

enum guard { UNGUARDED, ALLOWED, ASKED, BLOCKED };

/* What a row says of a tool: the fields behind agent and event. A `name` without `at` is not known, and matches. */
static enum guard read_guard(struct piece row, struct piece name) {
    struct bytes text = {0};
    struct piece failure = next_part(&row, '\x1f');
    if (!row.at) return UNGUARDED;
    struct piece mode = next_part(&row, '\x1f');
    int is_only = is_text(mode, "only"), is_listed = 0;
    enum guard level = is_text(failure, "block")   ? BLOCKED
                       : is_text(failure, "ask")   ? ASKED
                       : is_text(failure, "allow") ? ALLOWED
                                                   : UNGUARDED;
    if (!is_only && !is_text(mode, "except")) return UNGUARDED;
    while (row.at && name.at)
        if (read_escaped(next_part(&row, '\x1f'), &text))
            is_listed |= is_equal((struct piece){text.at, text.size}, name);
    return !name.at || is_listed == is_only ? level : UNGUARDED;
}

/* The answer of the first whole row of this kind. */
static int find_answer(const char *kind, struct piece agent, struct piece event, struct answer *answer) {
    static struct bytes texts[2];
    struct piece rest = relay_table(), row;
    while ((row = next_row_of(&rest, kind, agent, event)).at) {
        int64_t code = number_of(next_part(&row, '\x1f'), 3);
        int count = 0;
        while (row.at && count < 2 && read_escaped(next_part(&row, '\x1f'), &texts[count])) count++;
        if (code < 0 || code > 255 || count < 2 || row.at) continue;
        answer->code = (int)code;
        answer->out = (struct piece){texts[0].at, texts[0].size};
        answer->error = (struct piece){texts[1].at, texts[1].size};
        return 1;
    }
    return 0;
}

/* Whether Hooktray was uninstalled: its files are gone, and its environment is not. */
static int is_removed(void) {
    struct piece rest = relay_table(), row = next_row(&rest, "package");
    struct bytes mark = {0}, folder = {0};
    if (!row.at || !read_escaped(next_part(&row, '\x1f'), &mark)) return 0;
    if (!row.at || !read_escaped(next_part(&row, '\x1f'), &folder) || !row.at) return 0;
    if (mark.size && age_of(text_of(&mark)) < 0) return 0;
    if (folder.size && age_of(text_of(&folder)) < REMOVAL_AGE) return 0;
    while (row.at) {
        struct bytes file = {0};
        if (!read_escaped(next_part(&row, '\x1f'), &file) || !file.size || age_of(text_of(&file)) >= 0) return 0;
    }
    return 1;
}

/* Appends a note for the tray to a file of the state folder, if that can be written. */
static void note(const char *name, const struct bytes *line) {
    char *place = table_text("state");
    if (place && is_ours(place)) append_line(join_path(place, name), line, NOTES_LIMIT);
}

static void note_unjudged(struct piece agent, struct piece event) {
    struct bytes line = {0};
    add(&line, agent.at, agent.size);
    add(&line, "\x1f", 1);
    add(&line, event.at, event.size);
    add(&line, "\n", 1);
    note("unjudged-calls", &line);
}

/* The strictest answer of the guards in the table; 0 when none matches, or when the call goes on unjudged. */
static int judge_by_guards(struct piece agent, struct piece event, struct answer *answer) {
    static const struct piece none = {NULL, 0};
    struct piece rest = relay_table(), row = next_row_of(&rest, "guard", agent, none), guarded = none;
    enum guard strictest = UNGUARDED;
    if (!row.at) return 0;
    struct piece name = named_in_payload("tool", agent);
    for (rest = relay_table(); (row = next_row_of(&rest, "guard", agent, none)).at;) {
        struct piece row_event = next_part(&row, '\x1f');
        if (!row.at || (event.size && !is_equal(row_event, event))) continue;
        enum guard level = read_guard(row, name);
        if (level > strictest) strictest = level, guarded = row_event;
    }
    if (strictest && is_removed()) return 0;
    if (strictest == BLOCKED && find_answer("deny", agent, guarded, answer)) return 1;
    if (strictest >= ASKED && find_answer("ask", agent, guarded, answer)) return 1;
    if (strictest) note_unjudged(agent, guarded);
    return 0;
}

/* The answer when nobody judged the event; 0 = silence. */
static int answer_alone(struct answer *answer, struct bytes *fixed) {
    int is_marked = 0;
    struct bytes sign = {0};
    add(&sign, ".", 1);
    if (!is_removed()) note("answered-alone", &sign);
    struct piece agent = find_agent(&is_marked), event = named_in_payload("event", agent);
    char *names[] = {NULL, NULL};
    *answer = (struct answer){0};
    if (!event.at) event = piece_of(request.word_count > 1 ? request.words[1] : "");
    if (judge_by_guards(agent, event, answer)) return 1;
    if (!is_marked) return 0;
    for (int index = 0; index < 2; index++) {
        struct bytes text = {0};
        add(&text, agent.at, agent.size);
        names[0] = text_of(&text);
        text = (struct bytes){0};
        add(&text, index ? (const unsigned char *)"*" : event.at, index ? 1 : event.size);
        names[1] = text_of(&text);
        if (find_neutral(2, names, fixed) == NEUTRAL_BYTES && fixed->size) break;
        fixed->size = 0;
    }
    answer->out = (struct piece){fixed->at, fixed->size};
    return 1;
}

/* No opinion: writes the table's answer for the words of the command line, else nothing. */
static _Noreturn void give_up(void) {
    static int is_under_way;
    struct bytes fixed = {0};
    struct answer answer;
    if (is_under_way) leave(0); /* out of memory for the table or the input */
    is_under_way = 1;
    if (!request.is_input_taken) read_input(&request.payload);
    if (request.is_usage && answer_alone(&answer, &fixed)) {
        write_output(1, answer.out.at, answer.out.size);
        write_output(2, answer.error.at, answer.error.size);
        leave(answer.code);
    }
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

/* The folder of the tray's socket: as the command line or the table has it, else by the rules of tray/paths.py. */
static char *folder(void) {
    char *place = request.option[0] ? NULL : table_text("state");
    request.has_place = place != NULL;
    if (place) return place;
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

/* When the answer must have been given, in ms of the clock, as the table has it for the words of the command line. */
static int64_t answer_limit(void) {
    struct piece rest = relay_table(), row;
    struct piece event = piece_of(request.word_count > 1 ? request.words[1] : "");
    while ((row = next_row_of(&rest, "limit", piece_of(request.words[0]), event)).at) {
        int64_t limit = number_of(row, 9);
        if (limit >= 0) return request.started + limit;
    }
    return INT64_MAX;
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
            if (until > answer_limit()) until = answer_limit();
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
            if (received->room - received->size < 1024)
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
    if (request.payload.size >= CHUNK) widen(connection);
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

/* The words of the one-shot engine's command, from the table or else from relay.conf; returns their count, or 0. */
static int read_command(const char *place, char **argv, int room) {
    struct bytes conf = {0};
    struct piece rest = relay_table(), command = next_row(&rest, "once");
    int count = 0;
    if (request.has_place) {
        char *mode = table_text("without_tray");
        if (!mode || !is_same(mode, "once")) return 0;
        for (int is_first = 1; command.at && (command.size || !is_first); count++, is_first = 0) {
            struct bytes word = {0};
            if (count == room || !read_escaped(next_part(&command, '\x1f'), &word)) return 0;
            argv[count] = text_of(&word);
        }
        return count;
    }
    if (!read_ours(place, "relay.conf", &conf)) return 0;
    add(&conf, "\n", 2); /* a last line ends, too, and a NUL follows everything */
    char *mode = value_in(&conf, "without_tray="), *once = value_in(&conf, "once=");
    if (!is_same(mode, "once") || !once[0]) return 0;
    for (char *at = once; at; count++) {
        if (count == room) return 0;
        argv[count] = at;
        while (*at && *at != '\x1f') at++;
        at = *at ? (*at = 0, at + 1) : NULL;
    }
    return count;
}

/* The one-shot engine decides; its answer must be whole to count. */
static int ask_one_shot(const char *place, struct answer *answer) {
    struct bytes received = {0};
    char *argv[64], *spent = (char *)decimal((uint64_t)(milliseconds() - request.started));
    char *options[] = {"--id", request.id, "--spent", spent, "--framed"};
    int count = read_command(place, argv, 32);
    if (!count) return 0;
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
    request.is_usage = read_arguments(count, words);
    char *place = request.is_usage ? folder() : NULL;
    stream early = place && is_ours(place) ? connect_early(place) : NO_STREAM;
    request.is_input_taken = 1;
    if (!read_input(&request.payload) || !request.is_usage) give_up();
    /* Closed when the input took too long for the tray. */
    if (early != NO_STREAM && is_peer_closed(early)) close_stream(early), early = NO_STREAM;
    int is_reachable = early != NO_STREAM || is_ours(place);
    if (!is_reachable && !request.has_place) give_up();
    make_event_id();
    if (!(is_reachable && ask_tray(place, early, &answer)) && !ask_one_shot(place, &answer)) give_up();
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
