/* The ledger: a line for each call and each misuse, fields separated by tabs, times in microseconds.
 *   call    <pid>/<tid> <start> <duration> <function> <device> <result>
 *   misuse  <pid>/<tid> <time> 0 <text>
 *   hanging, released, closed: as misuse, but no fault */

#include "double.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int ledger(void) {
    static int file = -2;
    if (file == -2) {
        const char *path = getenv("NVML_STRICT_LEDGER");
        file = path && *path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    }
    return file;
}

static void append(const char *word, int64_t time_ns, int64_t duration_ns, const char *text) {
    if (ledger() < 0) return;
    char line[512];
    int length = snprintf(line, sizeof line, "%s\t%d/%ld\t%" PRId64 "\t%" PRId64 "\t%s\n", word, getpid(),
                          syscall(SYS_gettid), time_ns / 1000, duration_ns / 1000, text);
    if (length >= (int)sizeof line) {
        length = sizeof line - 1;
        line[length - 1] = '\n';
    }
    if (write(ledger(), line, (size_t)length) != length) abort();
}

void book_call(const struct call *call, int64_t end_ns) {
    char text[128], device[32] = "-";
    if (call->gpu && call->instance < 0) {
        snprintf(device, sizeof device, "%td", call->gpu - machine.gpus);
    } else if (call->gpu) {
        snprintf(device, sizeof device, "%td/%d", call->gpu - machine.gpus, call->instance);
    }
    snprintf(text, sizeof text, "%s\t%s\t%u", call->function, device, call->result);
    append("call", call->start_ns, end_ns - call->start_ns, text);
}

void book(const char *word, const char *format, ...) {
    char text[256];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    append(word, now_ns(), 0, text);
}

_Noreturn void fatal(const char *format, ...) {
    char text[256];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    append("misuse", now_ns(), 0, text);
    fprintf(stderr, "nvml_strict: %s\n", text);
    abort();
}

__attribute__((destructor)) static void close_books(void) {
    if (machine.initialized == 0) return;
    book("closed", "initialized %u, event sets %d, samples %d", machine.initialized, open_event_sets(),
         open_samples());
}
