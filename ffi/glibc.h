/* Keeps libservice.so loadable where the C library is old: in containers from GLIBC_2.28 on.
 *
 * Included before everything else by the build. glibc 2.34 gave what moved from libdl and libpthread
 * into libc a new version; here a call means the version that was there from the beginning. What has
 * no older version is for the tests to find: instead of stat and fstat call statx, instead of gettid
 * and close_range the syscall. */
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
