/* Events behind file descriptors. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "fake.h"

static struct events *all;

int events_open(struct events *events, enum event_kind kind) {
  int fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
  if (fd < 0) {
    return -1;
  }
  *events = (struct events){.next = all, .kind = kind, .fd = fd};
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

void events_close(struct events *events) {
  free_all(events->first);
  free_all(events->held_first);
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
  const uint64_t one = 1;
  append(&events->first, &events->last, event);
  if (write(events->fd, &one, sizeof one) != sizeof one) {
    abort();
  }
}

void events_add(struct events *events, struct event *event) {
  if (event_is_lost(events->kind)) {
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
    uint64_t one;
    if (read(events->fd, &one, sizeof one) != sizeof one) {
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
