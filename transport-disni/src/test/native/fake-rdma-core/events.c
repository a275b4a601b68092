// SPDX-License-Identifier: Apache-2.0
/* Events behind file descriptors. */
#define _GNU_SOURCE /* pipe2 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake.h"

static struct events *all;

int events_open(struct events *events, enum event_kind kind, const void *owner) {
  /* A byte for each event, which can be read; what is broken has an end. */
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) || fcntl(ends[1], F_SETFL, O_NONBLOCK)) {
    return -1;
  }
  *events = (struct events){
      .next = all, .kind = kind, .owner = owner, .fd = ends[0], .told_fd = ends[1]};
  all = events;
  return 0;
}

static void free_all(struct event *event) {
  while (event) {
    struct event *next = event->next;
    free(event);
    event = next;
  }
}

/* Nothing comes any more, and what came is gone. */
static void end(struct events *events) {
  free_all(events->first);
  free_all(events->held_first);
  events->first = events->held_first = NULL;
  if (events->told_fd >= 0) {
    close(events->told_fd);
    events->told_fd = -1;
  }
}

void events_break(const void *owner) {
  for (struct events *events = all; events; events = events->next) {
    if (events->owner == owner) {
      end(events);
    }
  }
}

void events_close(struct events *events) {
  end(events);
  close(events->fd);
  struct events **link = &all;
  while (*link != events) {
    link = &(*link)->next;
  }
  *link = events->next;
}

static void append(struct event **first, struct event **last, struct event *event) {
  event->next = NULL;
  if (*first) {
    (*last)->next = event;
  } else {
    *first = event;
  }
  *last = event;
}

static void tell(struct events *events, struct event *event) {
  const char one = 1;
  append(&events->first, &events->last, event);
  if (write(events->told_fd, &one, sizeof one) != sizeof one) {
    abort();
  }
}

void events_add(struct events *events, struct event *event) {
  if (events->told_fd < 0 || event_is_lost(events->kind)) {
    free(event);
  } else if (event_is_held(events->kind)) {
    append(&events->held_first, &events->held_last, event);
  } else {
    tell(events, event);
  }
}

void events_release(enum event_kind kind) {
  for (struct events *events = all; events; events = events->next) {
    while (events->kind == kind && events->held_first) {
      struct event *held = events->held_first;
      events->held_first = held->next;
      tell(events, held);
    }
  }
}

void events_forget(struct events *events, const void *object) {
  for (struct event *event = events->first; event; event = event->next) {
    event->object = event->object == object ? NULL : event->object;
  }
  for (struct event *event = events->held_first; event; event = event->next) {
    event->object = event->object == object ? NULL : event->object;
  }
}

struct event *events_take_locked(struct events *events) {
  for (;;) {
    char one;
    ssize_t taken = read(events->fd, &one, sizeof one);
    if (taken <= 0) {
      errno = taken ? errno : EIO;
      return NULL;
    }
    pthread_mutex_lock(&fabric);
    struct event *event = events->first;
    if (event) {
      events->first = event->next;
      if (event->object) {
        return event;
      }
      free(event);
    }
    pthread_mutex_unlock(&fabric);
  }
}
