// SPDX-License-Identifier: Apache-2.0
/*
 * What a test has the fake do, a line each:
 *
 *   fail CALL ERRNO [SKIP [TIMES]]   the call fails, after so many that do not, so many times (1);
 *                                    ERRNO -1 leaves errno as it is;
 *                                    ibv_post_send/request, ibv_post_recv/request: one of a list
 *   fail any ERRNO SKIP              likewise, of all that can fail
 *   at SKIP LINE                     does the line when so many calls were begun, before the next
 *   is-waiting                       fails once all that was to fail or to be done has
 *   pause CALL, resume CALL          threads stop in the call, before it does anything
 *   is-paused CALL                   fails unless a thread is there
 *   lose KIND [TIMES [SKIP]]         events are lost, behind so many: completion, async or cm
 *   hold KIND, release KIND          events are told later
 *   turn-cm TYPE STATUS [SKIP]       an event of a connection manager, behind so many, comes as one
 *                                    of this number in enum rdma_cm_event_type
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
 *
 * They are read from FAKE_RDMA_CORE_SCRIPT, or come from FakeRdmaCore.java.
 */
#include <errno.h>
#include <jni.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fake.h"

#define MAX_FAULTS 32
/* The call fails without setting errno. */
#define UNSET (-1)

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
static char later[64];
static int later_skip;
/* Where what was to fail, or to be done, last was. */
static char last_fault[64];
static int lost[EVENT_KINDS], kept_before[EVENT_KINDS];
static bool held[EVENT_KINDS];
static bool turns;
static int turned_type, turned_status, unturned;

/* What returns nothing, and what fails for those alone who ask for something that is not there. */
static bool never_fails(const char *call) {
  return !strcmp(call, "ibv_ack_async_event") || !strcmp(call, "rdma_ack_cm_event") ||
         !strcmp(call, "rdma_destroy_id");
}

static bool is_for(const struct failure *failure, const char *call) {
  return !strcmp(failure->call, "any") ? !never_fails(call) : !strcmp(failure->call, call);
}

/* Whether the line is due; not within a call, which holds the fabric. */
static bool is_due(const char *call) {
  return *later && !strchr(call, '/') && later_skip-- <= 0;
}

bool fault(const char *call) {
  if (!faults) {
    return false;
  }
  bool fails = false;
  int error = errno;
  char due[sizeof later] = "";
  pthread_mutex_lock(&lock);
  while (!strcmp(paused, call)) {
    stopped++;
    pthread_cond_wait(&resumed, &lock);
    stopped--;
  }
  for (int i = 0; i < MAX_FAULTS && !fails; i++) {
    struct failure *failure = &failures[i];
    if (failure->times && is_for(failure, call) && failure->skip-- <= 0) {
      fails = true;
      error = failure->error == UNSET ? error : failure->error;
      snprintf(last_fault, sizeof last_fault, "%s", call);
      if (--failure->times == 0) {
        faults--;
      }
    }
  }
  if (is_due(call)) {
    memcpy(due, later, sizeof due);
    *later = 0;
    faults--;
    snprintf(last_fault, sizeof last_fault, "%s", call);
  }
  pthread_mutex_unlock(&lock);
  if (*due && !script(due)) {
    abort();
  }
  errno = error;
  return fails;
}

bool event_is_lost(enum event_kind kind) {
  return lost[kind] > 0 && kept_before[kind]-- <= 0 && lost[kind]--;
}

bool event_is_held(enum event_kind kind) {
  return held[kind];
}

bool cm_event_turns(enum rdma_cm_event_type *type, int *status) {
  if (!turns || unturned-- > 0) {
    return false;
  }
  turns = false;
  *type = (enum rdma_cm_event_type)turned_type;
  *status = turned_status;
  return true;
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

/* As a pause. */
static bool put_off(int skip, char *words[], int count) {
  if (*later || !count) {
    return false;
  }
  size_t length = 0;
  for (int i = 0; i < count; i++) {
    length += (size_t)snprintf(later + length, sizeof later - length, "%s ", words[i]);
    if (length >= sizeof later) {
      *later = 0;
      return false;
    }
  }
  later_skip = skip;
  faults++;
  return true;
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
  *later = 0;
  resume();
  faults = 0;
  turns = false;
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
  if (!strcmp(verb, "at") && count >= 2) {
    return put_off(atoi(words[0]), words + 1, count - 1);
  }
  if (!strcmp(verb, "is-waiting")) {
    return faults;
  }
  if (!strcmp(verb, "lose") && kind >= 0) {
    lost[kind] = count > 1 ? atoi(words[1]) : 1;
    kept_before[kind] = count > 2 ? atoi(words[2]) : 0;
    return true;
  }
  if (!strcmp(verb, "turn-cm") && count >= 2) {
    turns = true;
    turned_type = atoi(words[0]);
    turned_status = atoi(words[1]);
    unturned = count > 2 ? atoi(words[2]) : 0;
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

/* FAKE_RDMA_CORE_SCRIPT: a FIFO, for programs in which nobody can call what stands below. */
static void *read_lines(void *file) {
  char line[256];
  while (fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = 0;
    fprintf(stderr, "fake rdma-core: %s\n", line);
    if (!script(line)) {
      abort();
    }
  }
  return NULL;
}

__attribute__((constructor)) static void open_script(void) {
  const char *path = getenv("FAKE_RDMA_CORE_SCRIPT");
  /* Also for writing, so that it has no end when a writer goes. */
  FILE *file = path ? fopen(path, "r+e") : NULL;
  pthread_t thread;
  if (path && (!file || pthread_create(&thread, NULL, read_lines, file) ||
               pthread_detach(thread))) {
    abort();
  }
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

/* FakeRdmaCore.lastFault */
EXPORT jstring Java_io_verbena_disni_FakeRdmaCore_lastFault(JNIEnv *env, jclass type) {
  (void)type;
  char call[sizeof last_fault];
  pthread_mutex_lock(&lock);
  memcpy(call, last_fault, sizeof call);
  pthread_mutex_unlock(&lock);
  return (*env)->NewStringUTF(env, call);
}

/* FakeRdmaCore.objects */
EXPORT jint Java_io_verbena_disni_FakeRdmaCore_objects(JNIEnv *env, jclass type) {
  (void)env, (void)type;
  return verbs_objects;
}

/* FakeRdmaCore.connectionObjects */
EXPORT jint Java_io_verbena_disni_FakeRdmaCore_connectionObjects(JNIEnv *env, jclass type) {
  (void)env, (void)type;
  return cm_objects;
}

/* FakeRdmaCore.vector */
EXPORT jint Java_io_verbena_disni_FakeRdmaCore_vector(JNIEnv *env, jclass type, jlong queue) {
  (void)env, (void)type;
  return ((struct fake_cq *)(uintptr_t)queue)->vector;
}

/* FakeRdmaCore.moderation */
EXPORT jlong Java_io_verbena_disni_FakeRdmaCore_moderation(JNIEnv *env, jclass type, jlong queue) {
  (void)env, (void)type;
  return ((struct fake_cq *)(uintptr_t)queue)->moderation;
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

/* FakeRdmaCore.gidQueries */
EXPORT jint Java_io_verbena_disni_FakeRdmaCore_gidQueries(JNIEnv *env, jclass type) {
  (void)env, (void)type;
  return gid_queries;
}

/* FakeRdmaCore.serviceLevel */
EXPORT jint Java_io_verbena_disni_FakeRdmaCore_serviceLevel(JNIEnv *env, jclass type,
                                                            jlong handle) {
  (void)env, (void)type;
  return ((struct fake_ah *)(uintptr_t)handle)->way.sl;
}

/* FakeRdmaCore.pairServiceLevel: of a queue pair's way to its peer. */
EXPORT jint Java_io_verbena_disni_FakeRdmaCore_pairServiceLevel(JNIEnv *env, jclass type,
                                                                jlong pair) {
  (void)env, (void)type;
  return ((struct fake_qp *)(uintptr_t)pair)->attr.ah_attr.sl;
}

/* FakeRdmaCore.port */
EXPORT jint Java_io_verbena_disni_FakeRdmaCore_port(JNIEnv *env, jclass type, jlong handle) {
  (void)env, (void)type;
  return ((struct fake_ah *)(uintptr_t)handle)->way.port_num;
}

/* FakeRdmaCore.isGlobal */
EXPORT jboolean Java_io_verbena_disni_FakeRdmaCore_isGlobal(JNIEnv *env, jclass type,
                                                            jlong handle) {
  (void)env, (void)type;
  return ((struct fake_ah *)(uintptr_t)handle)->way.is_global != 0;
}

/* FakeRdmaCore.lid */
EXPORT jint Java_io_verbena_disni_FakeRdmaCore_lid(JNIEnv *env, jclass type, jlong handle) {
  (void)env, (void)type;
  return ((struct fake_ah *)(uintptr_t)handle)->way.dlid;
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
