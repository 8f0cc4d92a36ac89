/* Symbol versions that keep libservice.so loadable with an old C library: GLIBC_2.28 and newer.
 *
 * The build includes it before everything else. glibc 2.34 moved functions from libdl and libpthread into
 * libc and gave them a new version; here a call means their first version. Functions that have no older
 * version are found by ffi/build_test.ts: call statx for stat and fstat, and the syscall for gettid and
 * close_range. */
#pragma once

#include <features.h>

#if defined __GLIBC__ && defined __x86_64__
#define FIRST "GLIBC_2.2.5"
#elif defined __GLIBC__ && defined __aarch64__
#define FIRST "GLIBC_2.17"
#endif

#ifdef FIRST
#define OLD(name) __asm__(".symver " #name "," #name "@" FIRST)

OLD(dladdr);
OLD(dlclose);
OLD(dlerror);
OLD(dlopen);
OLD(dlsym);

OLD(pthread_attr_setstacksize);
OLD(pthread_create);
OLD(pthread_detach);
OLD(pthread_getspecific);
OLD(pthread_join);
OLD(pthread_key_create);
OLD(pthread_key_delete);
OLD(pthread_kill);
OLD(pthread_mutex_timedlock);
OLD(pthread_mutex_trylock);
OLD(pthread_once);
OLD(pthread_rwlock_rdlock);
OLD(pthread_rwlock_unlock);
OLD(pthread_rwlock_wrlock);
OLD(pthread_setspecific);
OLD(pthread_sigmask);

OLD(sem_destroy);
OLD(sem_init);
OLD(sem_post);
OLD(sem_timedwait);
OLD(sem_trywait);
OLD(sem_wait);

OLD(shm_open);
OLD(shm_unlink);

#undef OLD
#undef FIRST
#endif
