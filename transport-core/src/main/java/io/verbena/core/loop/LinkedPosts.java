// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

import io.verbena.verbs.Device;
import io.verbena.verbs.PostException;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.SendWorkRequest;
import org.jspecify.annotations.Nullable;

/**
 * Collects send requests and posts them as linked lists: a device for which {@linkplain
 * Device#hasCostlyPosts each post has a price} is called once for a list. A list is of one queue
 * pair; it is posted when it is full, when another queue pair begins one, and by {@link #post}. One
 * for a loop; on its thread only.
 */
public final class LinkedPosts {
  /** Requests in a list, as many as {@code disni://} hands over at once. */
  private static final int MOST = 16;

  private static final int MOST_BUFFERS = 2;

  private final SendWorkRequest[] requests = new SendWorkRequest[MOST];
  private int count;
  private @Nullable QueuePair pair;
  private @Nullable Poster poster;

  /** Whose requests are collected. */
  public interface Poster {
    /**
     * Called when the requests of a list were not posted from one on. Posts nothing.
     *
     * @param sequence of the first of them, as in its {@linkplain WorkRequestId#sequence id}
     * @return whether the caller of {@link #next} or {@link #post} gets the exception, too
     */
    boolean refused(int sequence, Throwable why);
  }

  private LinkedPosts() {
    for (int i = 0; i < MOST; i++) {
      requests[i] = new SendWorkRequest(MOST_BUFFERS);
    }
  }

  /** Returns one for a loop of this device; null if its posts are better made one by one. */
  public static @Nullable LinkedPosts of(Device device) {
    return device.hasCostlyPosts() ? new LinkedPosts() : null;
  }

  /** Returns the request that {@link #add} adds next, to fill. */
  public SendWorkRequest next(Poster its) {
    if (poster != its || count == MOST) {
      post();
    }
    return requests[count];
  }

  /** Adds the request that {@link #next} has returned last, now filled, with its id. */
  public void add(QueuePair to, Poster its) {
    pair = to;
    poster = its;
    count++;
  }

  /** Posts what was collected. */
  public void post() {
    QueuePair to = pair;
    Poster its = poster;
    if (to == null || its == null) {
      return;
    }
    int last = count - 1;
    count = 0;
    pair = null;
    poster = null;
    for (int i = 0; i < last; i++) {
      requests[i].next(requests[i + 1]);
    }
    requests[last].next(null);
    SendWorkRequest first = requests[0];
    try {
      to.postSend(first);
    } catch (RuntimeException | Error e) {
      long refused = e instanceof PostException inList ? inList.workRequestId() : first.id();
      if (its.refused(WorkRequestId.sequence(refused), e)) {
        throw e;
      }
    }
  }
}
