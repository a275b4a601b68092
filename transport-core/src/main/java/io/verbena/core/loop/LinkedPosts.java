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
 * pair; it is posted when it is full, when another queue pair begins one, and by {@link #post}. Who
 * has another's list posted hears nothing of what that throws. One for a loop; on its thread only.
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
     * @param sequence of the first of them, which is in the list, as in its {@linkplain
     *     WorkRequestId#sequence id}
     * @return whether {@link #next} or {@link #post} throws the exception, too, if this poster has
     *     called it
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
      post(poster, poster == its);
    }
    return requests[count];
  }

  /** Adds the request that {@link #next} has returned last, now filled, with its id. */
  public void add(QueuePair to, Poster its) {
    pair = to;
    poster = its;
    count++;
  }

  /** Posts what was collected, for a loop. */
  public void post() {
    post(poster, false);
  }

  /** Posts what was collected of a poster, if anything was. */
  public void post(Poster its) {
    if (poster == its) {
      post(its, true);
    }
  }

  private void post(@Nullable Poster its, boolean forItself) {
    QueuePair to = pair;
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
    try {
      to.postSend(requests[0]);
    } catch (RuntimeException | Error e) {
      if (its.refused(WorkRequestId.sequence(refused(last, e)), e) && forItself) {
        throw e;
      }
    }
  }

  /** The id of the first request that was not posted; of all, where the provider names no other. */
  private long refused(int last, Throwable why) {
    if (why instanceof PostException inList) {
      for (int i = 0; i <= last; i++) {
        if (requests[i].id() == inList.workRequestId()) {
          return inList.workRequestId();
        }
      }
    }
    return requests[0].id();
  }
}
