/* Writer of a segment, which executes commands from its arguments and then from lines on stdin, and answers
 * each: `writer [DIRECTORIES [LINE]...]`
 *   series METRIC TYPE [KEY VALUE]...   prints the series
 *   frame SERIES NAME                   prints the cell
 *   cell SERIES NUMBER                  prints the cell
 *   add CELL A B · set CELL A B · publish · answer · state NUMBER [REASON] · call NAME · return
 *   fill SERIES COUNT                   COUNT frames, each with the values 1 and 1
 *   fork                                the child detaches from the segment, and runs for a while
 *   serve CELL                          from now on answers readers, and sets the cell to the time */
#define _GNU_SOURCE
#include "../../ffi/segment/segment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void serve(uint32_t cell) {
    for (;;) {
        uint32_t bell = segment_bell(), asked = segment_asked();
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        segment_set(cell, (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec, 1);
        segment_publish(asked);
        if (segment_asked() == asked) segment_wait(bell, 1000);
    }
}

static uint32_t frame(uint32_t series, const char *name) {
    return segment_cell(series, segment_name(name, strlen(name)));
}

static void fill(uint32_t series, uint32_t count) {
    char name[32];
    for (uint32_t i = 0; i < count; i++) {
        snprintf(name, sizeof name, "frame_%u", i);
        segment_add(frame(series, name), 1, 1);
    }
}

/* The child outlives the writer, but not the test by much. */
static void fork_child(void) {
    int ready[2];
    char byte;
    if (pipe(ready) != 0) return;
    if (fork() == 0) {
        segment_forget();
        segment_add(0, 1000, 1000);
        segment_publish(0);
        alarm(5);
        for (int fd = 0; fd < 64; fd++) close(fd);
        for (;;) pause();
    }
    close(ready[1]);
    if (read(ready[0], &byte, 1) < 0) abort();
    close(ready[0]);
}

static uint32_t number(const char *word) { return word ? (uint32_t)strtoul(word, NULL, 10) : 0; }

static uint32_t obey(char *words[]) {
    const char *verb = words[0];
    uint32_t first = number(words[1]);
    if (strcmp(verb, "series") == 0)
        return segment_series(words[1], number(words[2]), (const char *const *)&words[3]);
    if (strcmp(verb, "frame") == 0) return frame(first, words[2]);
    if (strcmp(verb, "cell") == 0) return segment_cell(first, number(words[2]));
    if (strcmp(verb, "add") == 0 || strcmp(verb, "set") == 0) {
        uint64_t a = strtoull(words[2], NULL, 10), b = strtoull(words[3], NULL, 10);
        if (verb[0] == 'a') segment_add(first, a, b);
        else segment_set(first, a, b);
    }
    if (strcmp(verb, "publish") == 0) segment_publish(segment_asked() - (segment_asked() != 0));
    if (strcmp(verb, "answer") == 0) segment_publish(segment_asked());
    if (strcmp(verb, "taken") == 0) return segment_taken();
    if (strcmp(verb, "state") == 0) segment_state(first, words[2]);
    if (strcmp(verb, "call") == 0) segment_call_begins(segment_name(words[1], strlen(words[1])));
    if (strcmp(verb, "return") == 0) segment_call_ends();
    if (strcmp(verb, "fill") == 0) fill(first, number(words[2]));
    if (strcmp(verb, "fork") == 0) fork_child();
    return 0;
}

static void hear(char *line) {
    char *words[130], *rest = NULL;
    int count = 0;
    for (char *word = strtok_r(line, " \n", &rest); word && count < 129; word = strtok_r(NULL, " \n", &rest))
        words[count++] = word;
    words[count] = NULL;
    if (count == 0) return;
    bool last = strcmp(words[0], "serve") == 0;
    printf("%u\n", last ? 0 : obey(words));
    fflush(stdout);
    if (last) serve(number(words[1]));
}

int main(int argc, char *argv[]) {
    bool told = argc > 1 && argv[1][0] != '\0';
    int error = segment_open(told ? argv[1] : getenv("SERVICE_SEGMENTS"));
    printf("%d %d\n", error, (int)getpid());
    fflush(stdout);
    for (int i = 2; i < argc; i++) hear(argv[i]);
    char line[65536];
    while (fgets(line, sizeof line, stdin)) hear(line);
    return 0;
}
