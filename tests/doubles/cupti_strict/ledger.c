/* Ledger of misuse: a line for each thing that CUPTI's documentation forbids. */
#include "strict.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

bool strict_checks = true;

static void write_line(const char *path, const char *format, va_list arguments)
{
    char line[512];
    int length = vsnprintf(line, sizeof line - 1, format, arguments);
    if (length > (int)sizeof line - 2)
        length = sizeof line - 2;
    line[length++] = '\n';
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : STDERR_FILENO;
    if (fd < 0 || write(fd, line, (size_t)length) != length)
        abort();
    if (path)
        close(fd);
}

void strict_misuse(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    write_line(getenv("STRICT_LEDGER"), format, arguments);
    va_end(arguments);
}

void strict_fatal(const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    write_line(NULL, format, arguments);
    if (getenv("STRICT_LEDGER"))
        write_line(getenv("STRICT_LEDGER"), format, again);
    va_end(again);
    va_end(arguments);
    abort();
}

uint64_t strict_number(const char *variable, uint64_t otherwise)
{
    const char *text = getenv(variable);
    return text ? strtoull(text, NULL, 10) : otherwise;
}
