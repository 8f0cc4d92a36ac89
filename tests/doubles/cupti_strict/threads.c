/* CPU time of a process by the names of its threads, and its memory. */
#include "threads.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t read_number(const char *path)
{
    uint64_t number = 0;
    FILE *file = fopen(path, "r");
    if (file && fscanf(file, "%lu", &number) != 1)
        number = 0;
    if (file)
        fclose(file);
    return number;
}

static void read_name(const char *path, char name[32])
{
    FILE *file = fopen(path, "r");
    if (!file || !fgets(name, 32, file))
        name[0] = 0;
    if (file)
        fclose(file);
    name[strcspn(name, "\n")] = 0;
}

/* Threads of the load end before this; the first thread is one too. */
void print_threads(void)
{
    uint64_t profiler_ns = 0, delivery_ns = 0, worker_ns = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *task; tasks && (task = readdir(tasks));) {
        char path[320], name[32];
        if (task->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", task->d_name);
        read_name(path, name);
        snprintf(path, sizeof path, "/proc/self/task/%s/schedstat", task->d_name);
        uint64_t ns = read_number(path);
        if (!strcmp(name, "strict-give"))
            delivery_ns += ns;
        else if (!strcmp(name, "strict-work"))
            worker_ns += ns;
        else if (task->d_name[0] && (int)strtol(task->d_name, NULL, 10) != (int)getpid())
            profiler_ns += ns;
    }
    if (tasks)
        closedir(tasks);
    printf("\"profiler_ns\":%lu,\"delivery_ns\":%lu,\"worker_ns\":%lu,", profiler_ns, delivery_ns,
           worker_ns);
}

uint64_t resident_kib(void)
{
    uint64_t pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%lu %lu", &pages, &resident) != 2)
        resident = 0;
    if (file)
        fclose(file);
    return resident * (uint64_t)sysconf(_SC_PAGESIZE) / 1024;
}
