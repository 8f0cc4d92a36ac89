/* Strict driver: a watch over the order of locks.
 *
 * CUPTI holds locks of its own while it requests or delivers a buffer. A profiler's lock that is
 * taken in those callbacks may therefore not be held when CUPTI is called: sooner or later two
 * threads wait for each other. This finds it without the luck that the deadlock needs.
 * Programs have this library before the C library, so these are the functions that all call. */
#include "strict.h"

#include <dlfcn.h>
#include <pthread.h>

enum { MAX_HELD = 16, MAX_SEEN = 64 };

typedef int next_function(pthread_mutex_t *);

struct seen {
    _Atomic(pthread_mutex_t *) locks[MAX_SEEN];
};

extern _Thread_local enum strict_inside strict_inside;

static struct seen in_callbacks, across_calls;
static _Thread_local pthread_mutex_t *held[MAX_HELD];
static _Thread_local unsigned int held_count;

static bool has(struct seen *seen, pthread_mutex_t *lock)
{
    for (int i = 0; i < MAX_SEEN && seen->locks[i]; i++) {
        if (seen->locks[i] == lock)
            return true;
    }
    return false;
}

static void remember(struct seen *seen, pthread_mutex_t *lock)
{
    for (int i = 0; i < MAX_SEEN; i++) {
        pthread_mutex_t *none = NULL;
        if (seen->locks[i] == lock || atomic_compare_exchange_strong(&seen->locks[i], &none, lock))
            return;
        if (none == lock)
            return;
    }
}

void strict_check_locks(const char *function)
{
    for (unsigned int i = 0; i < held_count && i < MAX_HELD; i++) {
        remember(&across_calls, held[i]);
        if (has(&in_callbacks, held[i]))
            strict_misuse("%s called with a lock that callbacks for buffers take", function);
    }
}

static next_function *find_next(const char *name)
{
    return (next_function *)dlsym(RTLD_NEXT, name);
}

STRICT_API int pthread_mutex_lock(pthread_mutex_t *lock)
{
    static _Atomic(next_function *) next;
    next_function *known = next;
    if (!known)
        next = known = find_next("pthread_mutex_lock");
    int result = known(lock);
    if (!strict_checks)
        return result;
    if (strict_inside == INSIDE_REQUEST || strict_inside == INSIDE_COMPLETE) {
        remember(&in_callbacks, lock);
        if (has(&across_calls, lock))
            strict_misuse("callbacks for buffers take a lock that is held while CUPTI is called");
    }
    if (held_count < MAX_HELD)
        held[held_count] = lock;
    held_count++;
    return result;
}

STRICT_API int pthread_mutex_unlock(pthread_mutex_t *lock)
{
    static _Atomic(next_function *) next;
    next_function *known = next;
    if (!known)
        next = known = find_next("pthread_mutex_unlock");
    for (unsigned int i = held_count; i-- > 0 && strict_checks;) {
        if (i >= MAX_HELD || held[i] != lock)
            continue;
        for (held_count--; i < held_count && i + 1 < MAX_HELD; i++)
            held[i] = held[i + 1];
        break;
    }
    return known(lock);
}
