/*
 * The launcher's signals. They are ignored by empty handlers, which exec resets to the default
 * action, so that no child has to reset them. The kernel's signal that assay is gone kills the
 * current run, and the launcher.
 */
#include <signal.h>
#include <sys/prctl.h>

#include "rooms.h"
#include "system.h"

#if defined(__x86_64__)
#define KERNEL_SA_RESTORER 0x04000000UL
void signal_return(void);
#else
#define KERNEL_SA_RESTORER 0UL
static void (*const signal_return)(void) = NULL;
#endif

static int parent;

struct kernel_sigaction {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};

static void handle(int sig, void (*handler)(int), unsigned long flags)
{
    struct kernel_sigaction action = { handler, flags | KERNEL_SA_RESTORER, signal_return, 0 };
    CALL4(__NR_rt_sigaction, sig, &action, NULL, sizeof action.mask);
}

static void on_ignored(int sig)
{
    (void)sig;
}

/* Called when assay is gone: also kills the current run, or, in a guard, the group that assay
 * has written into the page. */
__attribute__((noreturn)) void end_all(void)
{
    int group = page ? page->group : 0;
    if (group > 0) {
        kill_group(group, SIGKILL);
        CALL2(__NR_kill, group, SIGKILL);
    }
    end_strays();
    restore_and_leave();
}

/* Sent by the kernel when the thread that started the launcher ends; only relevant if its
 * process is gone. */
static void on_parent_death(int sig)
{
    (void)sig;
    if (CALL0(__NR_getppid) == parent || restoring)
        return;
    end_all();
}

void arrange_signals(void)
{
    static const int ignored[] = { SIGINT, SIGQUIT, SIGHUP, SIGTSTP, SIGTTIN, SIGTTOU, SIGPIPE,
                                   SIGUSR1, SIGUSR2 };
    uint64_t none = 0;
    for (int sig = 1; sig <= 64; sig++)
        handle(sig, SIG_DFL, 0);
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        handle(ignored[i], on_ignored, SA_RESTART);
    handle(SIGTERM, on_parent_death, SA_RESTART);
    handle(SIGALRM, on_ignored, 0); /* must interrupt wait4 */
    CALL4(__NR_rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof none);
    parent = (int)CALL0(__NR_getppid);
    CALL5(__NR_prctl, PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
}
