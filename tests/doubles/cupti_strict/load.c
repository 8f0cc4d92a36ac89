/* Load on the strict double: a program that uses the driver as an application does.
 *
 * load scenario=storm|mixed|graphs|rival [name=value ...]; it prints one JSON object and ends. */
#include "load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static char **arguments;

static const char *find(const char *name)
{
    size_t length = strlen(name);
    for (char **at = arguments + 1; *at; at++) {
        if (!strncmp(*at, name, length) && (*at)[length] == '=')
            return *at + length + 1;
    }
    return NULL;
}

uint64_t option(const char *name, uint64_t otherwise)
{
    const char *value = find(name);
    return value ? strtoull(value, NULL, 10) : otherwise;
}

bool has_option(const char *name, const char *value)
{
    const char *given = find(name);
    return given && !strcmp(given, value);
}

uint64_t now_ns(int clock)
{
    struct timespec now;
    clock_gettime((clockid_t)clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void sleep_ns(uint64_t ns)
{
    nanosleep(&(struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)}, NULL);
}

int main(int count, char **given)
{
    (void)count;
    arguments = given;
    if (cuInit(0))
        return 1;
    if (has_option("scenario", "mixed"))
        run_mixed();
    else if (has_option("scenario", "graphs"))
        run_graphs();
    else if (has_option("scenario", "rival"))
        run_rival();
    else
        run_storm();
    return 0;
}
