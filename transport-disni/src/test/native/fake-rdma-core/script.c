/*
 * What a test has the fake do, a line each:
 *
 *   fail CALL ERRNO [SKIP [TIMES]]   the call fails, after so many that do not, so many times (1);
 *                                    ibv_post_send/request, ibv_post_recv/request: one of a list
 *   pause CALL, resume CALL          threads stop in the call, before it does anything
 *   is-paused CALL                   fails unless a thread is there
 *   lose KIND [TIMES]                events are lost: completion, async or cm
 *   hold KIND, release KIND          events are told later
 *   defer                            completions are kept back from their queues
 *   complete QPN [COUNT]             those of a queue pair that are kept back, all or the oldest
 *   remove DEVICE, return DEVICE     the device goes while it is used; a new one of its name comes
 *   is-freed DEVICE                  fails unless the context of the one that went last is freed
 *   down DEVICE PORT, up DEVICE PORT the state of a port, with its event
 *   break-srq DEVICE                 its shared receive queues fail, with their event
 *   gid DEVICE PORT INDEX TYPE ADDR  an entry of the table of GIDs, with the event; v1, v2 or ib
 *   no-gid DEVICE PORT INDEX         it goes, with the event
 *   unused-contexts-only             fails if a context was freed on which there were objects
 *   clear                            no failures, pauses, losses; what was kept back is told
 */
#include <errno.h>
#include <jni.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fake.h"

#define MAX_FAULTS 32

struct failure {
  char call[64];
  int error, skip, times;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct failure failures[MAX_FAULTS];
static _Atomic int faults;
static char paused[64];
static int stopped;
static pthread_cond_t resumed = PTHREAD_COND_INITIALIZER;
static int lost[EVENT_KINDS];
static bool held[EVENT_KINDS];

bool fault(const char *call) {
  if (!faults) {
    return false;
  }
  bool fails = false;
  pthread_mutex_lock(&lock);
  while (!strcmp(paused, call)) {
    stopped++;
    pthread_cond_wait(&resumed, &lock);
    stopped--;
  }
  for (int i = 0; i < MAX_FAULTS && !fails; i++) {
    struct failure *failure = &failures[i];
    if (failure->times && !strcmp(failure->call, call) && failure->skip-- <= 0) {
      fails = true;
      errno = failure->error;
      if (--failure->times == 0) {
        faults--;
      }
    }
  }
  pthread_mutex_unlock(&lock);
  return fails;
}

bool event_is_lost(enum event_kind kind) {
  return lost[kind] > 0 && lost[kind]--;
}

bool event_is_held(enum event_kind kind) {
  return held[kind];
}

static bool fail(const char *call, int error, int skip, int times) {
  for (int i = 0; i < MAX_FAULTS; i++) {
    if (!failures[i].times) {
      failures[i] = (struct failure){.error = error, .skip = skip, .times = times};
      snprintf(failures[i].call, sizeof failures[i].call, "%s", call);
      faults++;
      return true;
    }
  }
  return false;
}

static int kind_of(const char *name) {
  const char *const names[] = {"completion", "async", "cm"};
  for (int kind = 0; kind < EVENT_KINDS; kind++) {
    if (!strcmp(names[kind], name)) {
      return kind;
    }
  }
  return -1;
}

/* A pause counts as a fault, so that a call without any looks no further. */
static bool pause_call(const char *call) {
  if (strlen(call) >= sizeof paused || *paused) {
    return false;
  }
  strcpy(paused, call);
  faults++;
  return true;
}

static bool resume(void) {
  if (!*paused) {
    return false;
  }
  *paused = 0;
  faults--;
  pthread_cond_broadcast(&resumed);
  return true;
}

static bool clear(void) {
  memset(failures, 0, sizeof failures);
  resume();
  faults = 0;
  completions_release();
  for (int kind = 0; kind < EVENT_KINDS; kind++) {
    lost[kind] = 0;
    held[kind] = false;
    events_release(kind);
  }
  return true;
}

static bool obey(char *verb, char *words[], int count) {
  int kind = count ? kind_of(words[0]) : -1;
  if (!strcmp(verb, "unused-contexts-only")) {
    return !freed_in_use;
  }
  if (!strcmp(verb, "clear")) {
    return clear();
  }
  if (!strcmp(verb, "fail") && count >= 2) {
    return fail(words[0], atoi(words[1]), count > 2 ? atoi(words[2]) : 0,
                count > 3 ? atoi(words[3]) : 1);
  }
  if (!strcmp(verb, "lose") && kind >= 0) {
    lost[kind] = count > 1 ? atoi(words[1]) : 1;
    return true;
  }
  if ((!strcmp(verb, "hold") || !strcmp(verb, "release")) && kind >= 0) {
    held[kind] = *verb == 'h';
    if (!held[kind]) {
      events_release(kind);
    }
    return true;
  }
  if (!strcmp(verb, "pause") && count == 1) {
    return pause_call(words[0]);
  }
  if (!strcmp(verb, "resume") && count == 1) {
    return !strcmp(paused, words[0]) && resume();
  }
  if (!strcmp(verb, "is-paused") && count == 1) {
    return !strcmp(paused, words[0]) && stopped;
  }
  if (!strcmp(verb, "defer") && !count) {
    completions_defer();
    return true;
  }
  if (!strcmp(verb, "complete") && count >= 1) {
    return completions_tell((uint32_t)atoi(words[0]), count > 1 ? atoi(words[1]) : INT32_MAX);
  }
  if (!strcmp(verb, "is-freed") && count == 1) {
    return device_is_freed(words[0]);
  }
  if (!strcmp(verb, "break-srq") && count == 1) {
    return srqs_break(words[0]);
  }
  if ((!strcmp(verb, "gid") && count == 5) || (!strcmp(verb, "no-gid") && count == 3)) {
    return device_gid(words, count == 5);
  }
  if (!strcmp(verb, "remove") && count == 1) {
    return device_remove(words[0]);
  }
  if (!strcmp(verb, "return") && count == 1) {
    return device_return(words[0]);
  }
  if ((!strcmp(verb, "down") || !strcmp(verb, "up")) && count == 2) {
    return port_event(words[0], atoi(words[1]), *verb == 'u');
  }
  return false;
}

bool script(char *text) {
  char *words[7], *rest = NULL;
  int count = 0;
  for (char *word = strtok_r(text, " ", &rest); word && count < 7;
       word = strtok_r(NULL, " ", &rest)) {
    words[count++] = word;
  }
  pthread_mutex_lock(&fabric);
  pthread_mutex_lock(&lock);
  bool done = count && obey(words[0], words + 1, count - 1);
  pthread_mutex_unlock(&lock);
  pthread_mutex_unlock(&fabric);
  return done;
}

/* FakeRdmaCore.command: whether the line was understood and could be done. */
EXPORT jboolean Java_io_verbena_disni_FakeRdmaCore_command(JNIEnv *env, jclass type, jstring line) {
  (void)type;
  char text[256];
  jsize length = (*env)->GetStringUTFLength(env, line);
  if (length >= (jsize)sizeof text) {
    return false;
  }
  (*env)->GetStringUTFRegion(env, line, 0, (*env)->GetStringLength(env, line), text);
  text[length] = 0;
  return script(text);
}

/* FakeRdmaCore.vector */
EXPORT jint Java_io_verbena_disni_FakeRdmaCore_vector(JNIEnv *env, jclass type, jlong queue) {
  (void)env, (void)type;
  return ((struct fake_cq *)(uintptr_t)queue)->vector;
}

/* FakeRdmaCore.access */
EXPORT jint Java_io_verbena_disni_FakeRdmaCore_access(JNIEnv *env, jclass type, jlong region) {
  (void)env, (void)type;
  return ((struct fake_mr *)(uintptr_t)region)->access;
}

/* FakeRdmaCore.ece */
EXPORT jint Java_io_verbena_disni_FakeRdmaCore_ece(JNIEnv *env, jclass type, jlong pair) {
  (void)env, (void)type;
  return (jint)((struct fake_qp *)(uintptr_t)pair)->ece;
}

/* ---- timers: one thread, from the first that is set on */

static pthread_cond_t set_earlier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool is_set;

int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void *keep_time(void *unused) {
  pthread_mutex_lock(&fabric);
  for (;;) {
    int64_t time = now();
    int64_t next = qp_timers(time), of_cm = cm_timers(time);
    next = of_cm < next ? of_cm : next;
    /* Also what these have set is in it. */
    is_set = false;
    struct timespec until = {.tv_sec = next / 1000000000LL, .tv_nsec = next % 1000000000LL};
    int late = 0;
    while (!is_set && !late) {
      late = next == NEVER ? pthread_cond_wait(&set_earlier, &fabric)
                           : pthread_cond_timedwait(&set_earlier, &fabric, &until);
    }
  }
  return unused;
}

static void start(void) {
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&set_earlier, &attributes);
  pthread_t thread;
  if (pthread_create(&thread, NULL, keep_time, NULL)) {
    abort();
  }
  pthread_detach(thread);
}

void timer_set(void) {
  pthread_once(&once, start);
  is_set = true;
  pthread_cond_signal(&set_earlier);
}
