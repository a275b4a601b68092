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
 * pair; it is posted when it is full, when another queue pair begins one, and by {@link #post}. A
 * member that causes another's list to be posted sees none of what that throws. Receives go before
 * the list that may give the peer credits for them. One for a loop; on its thread only.
 */
public final class LinkedPosts {
  /** Requests in a list, as many as {@code disni://} hands over at once. */
  private static final int MOST = 16;

  private static final int MOST_BUFFERS = 2;

  private final SendWorkRequest[] requests = new SendWorkRequest[MOST];
  private int count;
  private @Nullable QueuePair pair;
  private @Nullable Poster poster;

  /** Posts the receives that wait at the end of a duty cycle. */
  private Runnable receives = () -> {};

  /** The owner of the requests that are collected. */
  public interface Poster {
    /**
     * Called before a list of this poster is posted: posts the receives that the list may give the
     * peer credits for. Must not throw; may have the list posted itself.
     */
    void postReceives();

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

  /**
   * Posts the loop's receives first, whenever {@link #post()} is called, whoever sends.
   *
   * @param all posts them, if some wait; must not throw
   */
  public void beginWith(Runnable all) {
    receives = all;
  }

  /** Returns the request that {@link #add} adds next, to fill. */
  public SendWorkRequest next(Poster its) {
    // Who learns of a refused receive may begin a list in place of the one that is posted.
    while (poster != null && (poster != its || count == MOST)) {
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

  /** Posts what was collected, and all receives that wait, for a loop. */
  public void post() {
    receives.run();
    post(poster, false);
  }

  /** Posts what was collected of a poster, if anything was. */
  public void post(Poster its) {
    if (poster == its) {
      post(its, true);
    }
  }

  private void post(@Nullable Poster its, boolean forItself) {
    if (its == null) {
      return;
    }
    its.postReceives();
    QueuePair to = pair;
    if (to == null || poster != its) {
      // The connection that learned of a refused receive has posted it.
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
