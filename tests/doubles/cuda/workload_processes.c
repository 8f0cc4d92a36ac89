/* Scenarios with starts, forks and ends of processes. */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "workload.h"

static void some_work(void) {
    for (int i = 0; i < 500; i++) {
        on_device(i % DEVICES);
        launch((int)random_below(50), (int)random_below(STREAMS), 1 + random_below(2000));
    }
}

static int wait_for_child(pid_t child) {
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child) return 73;
    return status == 0 ? 0 : 74;
}

static uint64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Forks a child without CUDA, which tries to use it and calls exit(). Returns the time that this took. */
static uint64_t child_leaves(int *failed) {
    uint64_t forked_ms = now_ms();
    pid_t child = fork();
    if (child == 0) {
        cuda.cuLaunchKernel(symbol_function(0), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
        exit(0);
    }
    *failed |= wait_for_child(child);
    return now_ms() - forked_ms;
}

/* The children must exit at once: no collector runs there, and a wait for it takes a second each time. */
static int fork_and_exit(void) {
    start();
    some_work();
    int failed = 0, tries = 0;
    while (child_leaves(&failed) > 900)
        if (++tries == 3) return 79;
    some_work();
    close_books();
    return failed;
}

/* Forks a child that starts CUDA, from a process that has loaded but not started it. */
static pid_t fork_worker(void) {
    load();
    pid_t child = fork();
    if (child == 0) {
        start();
        some_work();
        close_books();
        exit(0);
    }
    return child;
}

/* As fork_and_exit, from a process that has loaded but not started CUDA: the child starts it. */
static int fork_before_init(void) {
    int failed = wait_for_child(fork_worker());
    start();
    some_work();
    close_books();
    return failed;
}

static int fork_and_exec(void) {
    start();
    some_work();
    pid_t child = fork();
    if (child == 0) {
        execl("/proc/self/exe", "workload", "plain", NULL);
        _exit(75);
    }
    int failed = wait_for_child(child);
    some_work();
    close_books();
    return failed;
}

static int plain(void) {
    start();
    some_work();
    close_books();
    return 0;
}

/* Exits without running handlers: the records read until then are known. */
static int leave_at_once(void) {
    start();
    some_work();
    close_books();
    wait_for_gate();
    _exit(0);
}

static int kill_itself(void) {
    start();
    some_work();
    close_books();
    wait_for_gate();
    raise(SIGKILL);
    return 0;
}

static void *exit_there(void *unused) {
    (void)unused;
    exit(0);
    return NULL;
}

static int exit_from_thread(void) {
    start();
    some_work();
    close_books();
    pthread_t thread;
    pthread_create(&thread, NULL, exit_there, NULL);
    pause();
    return 78;
}

static void *launch_for_ever(void *unused) {
    (void)unused;
    on_device(1);
    for (uint64_t at = 1;; at += 10) {
        cuda.fake_next(at, at + 5);
        bool over = cuda.cuLaunchKernel(symbol_function(0), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL) != 0;
        usleep(over ? 1000 : 50);
    }
    return NULL;
}

/* Other threads launch while handlers of exit run, and after. */
static int exit_while_launching(void) {
    start();
    symbol_function(0);
    pthread_t thread;
    for (int i = 0; i < 4; i++) pthread_create(&thread, NULL, launch_for_ever, NULL);
    usleep(100000);
    pthread_create(&thread, NULL, exit_there, NULL);
    pause();
    return 78;
}

static int closed_injection(void) {
    start();
    some_work();
    cuda.fake_close_injection();
    some_work();
    close_books();
    return 0;
}

static int abort_itself(void) {
    start();
    some_work();
    close_books();
    wait_for_gate();
    abort();
}

/* quick_exit() runs no handlers of exit either. */
static int quick_exit_itself(void) {
    start();
    some_work();
    close_books();
    wait_for_gate();
    quick_exit(0);
}

static void *begin_there(void *unused) {
    (void)unused;
    return (void *)(uintptr_t)cuda.cuInit(0);
}

/* Child processes that exit while their driver starts: none hangs, none crashes. */
static int exit_during_start(void) {
    load();
    int failed = 0;
    for (int i = 0; i < 40; i++) {
        useconds_t after = random_below(3000);
        pid_t child = fork();
        if (child == 0) {
            pthread_t thread;
            alarm(10);
            pthread_create(&thread, NULL, begin_there, NULL);
            usleep(after);
            exit(0);
        }
        failed |= wait_for_child(child);
    }
    close_books();
    return failed;
}

/* A child that is not waited for until the test opens the gate. */
static int zombie(void) {
    pid_t child = fork_worker();
    wait_for_gate();
    return wait_for_child(child);
}

/* A process that outlives the command: starts CUDA and exits after the run is over. */
static int orphan(void) {
    load();
    if (fork() == 0) {
        alarm(10);
        usleep(100000);
        start();
        some_work();
        usleep(100000);
        exit(0);
    }
    return 0;
}

static struct timespec left_at;

static void tell_time_of_exit(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t took = (uint64_t)(now.tv_sec - left_at.tv_sec) * 1000000000u;
    new_books();
    expect_process("exit_nanoseconds", took + (uint64_t)now.tv_nsec - (uint64_t)left_at.tv_nsec);
    close_books();
}

/* Books only the time of the handlers of exit() that run after the first. */
static int timed_exit(void) {
    atexit(tell_time_of_exit);
    start();
    some_work();
    clock_gettime(CLOCK_MONOTONIC, &left_at);
    return 0;
}

/* The library is loaded where there is no driver. */
static int no_driver(void) {
    void *library = dlopen(getenv("CUDA_INJECTION64_PATH"), RTLD_NOW);
    int (*initialize)(void) = library == NULL ? NULL : (int (*)(void))dlsym(library, "InitializeInjection");
    if (initialize == NULL) return 77;
    initialize();
    return 0;
}

const struct scenario process_scenarios[] = {
    {"no_driver", no_driver},
    {"fork_and_exit", fork_and_exit},
    {"fork_before_init", fork_before_init},
    {"fork_and_exec", fork_and_exec},
    {"plain", plain},
    {"leave_at_once", leave_at_once},
    {"kill_itself", kill_itself},
    {"exit_from_thread", exit_from_thread},
    {"exit_while_launching", exit_while_launching},
    {"closed_injection", closed_injection},
    {"abort_itself", abort_itself},
    {"quick_exit_itself", quick_exit_itself},
    {"exit_during_start", exit_during_start},
    {"zombie", zombie},
    {"orphan", orphan},
    {"timed_exit", timed_exit},
    {NULL, NULL},
};
