/* A test library that calls the functions that glibc 2.34 moved into libc, as libservice.so may. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>

#include "../export.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static sem_t ready;

static void prepare(void) {
    pthread_key_create(&key, NULL);
    sem_init(&ready, 0, 0);
}

static void *work(void *value) {
    pthread_setspecific(key, value);
    sem_post(&ready);
    return pthread_getspecific(key);
}

static void nothing(void) {}

/* Returns 42 if each of them worked, else the number of the one that failed. */
SERVICE_EXPORT int exercise(void) {
    pthread_t thread;
    void *result = NULL;
    Dl_info info;
    int answer = 42;
    pthread_once(&once, prepare);
    if (pthread_atfork(NULL, NULL, nothing) != 0 || atexit(nothing) != 0) return 1;
    if (pthread_create(&thread, NULL, work, &answer) != 0) return 2;
    if (sem_wait(&ready) != 0 || pthread_join(thread, &result) != 0) return 3;
    void *self = dlopen(NULL, RTLD_NOW);
    if (!self || !dlsym(self, "malloc") || dlclose(self) != 0) return 4;
    if (!dladdr(work, &info) || dlerror()) return 5;
    if (pthread_create(&thread, NULL, work, &answer) != 0 || pthread_detach(thread) != 0) return 6;
    return sem_wait(&ready) == 0 && result ? *(int *)result : 7;
}
