/* Signals to the supervisor: read from a signalfd and forwarded to the workload. */
#define _GNU_SOURCE
#include "signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include "ends.h"

void signals_open(struct supervisor *s) {
    static const int all[] = {SIGINT,  SIGTERM,  SIGHUP,  SIGQUIT, SIGUSR1, SIGUSR2,
                              SIGCONT, SIGWINCH, SIGCHLD, SIGTTIN, SIGTTOU};
    sigemptyset(&s->handled);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct sigaction action;
        bool ignored = sigaction(all[i], NULL, &action) == 0 && action.sa_handler == SIG_IGN;
        /* A signal that nohup or a shell ignores stays ignored, in the workload too. */
        if (!ignored || all[i] == SIGCHLD) sigaddset(&s->handled, all[i]);
    }
    if (has_own_session(s)) sigaddset(&s->handled, SIGTSTP);
    sigprocmask(SIG_BLOCK, &s->handled, &s->workload.mask);
    s->signals = signalfd(-1, &s->handled, SFD_CLOEXEC | SFD_NONBLOCK);
    signal(SIGPIPE, SIG_IGN);
}

/* Whether workloads end by this signal. */
static bool is_ending(int number) {
    return number == SIGTERM || number == SIGINT || number == SIGHUP || number == SIGQUIT;
}

static void forward(struct supervisor *s, const struct signalfd_siginfo *signal) {
    int number = (int)signal->ssi_signo;
    pid_t pid = s->workload.pid;
    /* A terminal signals its whole foreground group: the workload too, if it is in ours. */
    bool from_kernel = signal->ssi_code > 0;
    bool own_session = has_own_session(s);
    if (is_ending(number)) tell_signal(s, number);
    if (number == SIGWINCH) {
        streams_copy_sizes(&s->streams);
        const struct pump *pumps = s->streams.pumps;
        bool pseudo = pumps[OUTPUT].in >= 0 || pumps[ERRORS].in >= 0;
        /* A pseudo terminal that controls the workload has just signalled it. A workload in our
         * group may have read the size of its pseudo terminal before it was copied. */
        if (from_kernel && (own_session || !pseudo)) return;
        kill(pid, number);
    } else if (number == SIGCONT && own_session) {
        streams_take_foreground(&s->streams);
        kill(-pid, number);
    } else if (!from_kernel) {
        kill(pid, number);
    } else if (own_session) {
        kill(-pid, number);
    }
}

void signals_handle(struct supervisor *s) {
    struct signalfd_siginfo signal;
    while (read(s->signals, &signal, sizeof signal) == (ssize_t)sizeof signal) {
        int number = (int)signal.ssi_signo;
        if (number == SIGCHLD) reap(s);
        else if (number == SIGTTIN || number == SIGTTOU) continue;
        else if (!s->ended) forward(s, &signal);
        else if (number != SIGWINCH && number != SIGCONT) s->hurried = true;
    }
}
