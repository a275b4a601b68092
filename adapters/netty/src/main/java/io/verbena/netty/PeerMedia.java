// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.verbena.core.medium.PeerMemory;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Remembers whether RDMA leads to a peer, as the connects of an HCA have found out; else TCP did.
 * Of those that do not know, one finds out for all, however many connect at once. Thread-safe.
 *
 * <p>It holds the latest peers, and those to which a connect is under way.
 */
final class PeerMedia {
  private final PeerMemory<InetSocketAddress, Boolean> known = new PeerMemory<>();
  private final Map<InetSocketAddress, Question> asked = new HashMap<>();

  /**
   * The question whether RDMA leads to a peer, answered once; with null if that was not found out.
   * The thread that completes it runs the actions that wait for it.
   */
  static final class Question extends CompletableFuture<@Nullable Boolean> {
    private final @Nullable Object asker;
    private final long since = System.nanoTime();

    private Question(@Nullable Object asker) {
      this.asker = asker;
    }

    /** Returns whether this one is to find out, and then to {@link PeerMedia#end}. */
    boolean isOf(Object connect) {
      return asker == connect;
    }
  }

  /**
   * Asks whether RDMA leads to a peer.
   *
   * @param connect who asks
   * @param nanos how old an answer may be; an older one serves while another connect finds out
   * @param patience for how long another connect may find out: one whose loop has ended never says
   */
  Question ask(InetSocketAddress peer, Object connect, long nanos, long patience) {
    Question late = null;
    Question question;
    synchronized (this) {
      Question other = asked.get(peer);
      if (other != null && System.nanoTime() - other.since >= patience) {
        late = other;
        other = null;
      }
      Boolean leads = other == null ? known.get(peer, nanos) : known.get(peer);
      if (leads != null) {
        question = new Question(null);
        question.complete(leads);
      } else if (other != null) {
        question = other;
      } else {
        question = new Question(connect);
        asked.put(peer, question);
      }
    }
    if (late != null) {
      end(peer, late, null);
    }
    return question;
  }

  /** Ends the finding out, and completes the question. */
  void end(InetSocketAddress peer, Question question, @Nullable Boolean leads) {
    synchronized (this) {
      asked.remove(peer, question);
    }
    question.complete(leads);
  }

  /**
   * Notes that a connect has succeeded.
   *
   * @param nanos for how long it is known
   * @return whether it is another medium than before
   */
  boolean remember(InetSocketAddress peer, boolean overRdma, long nanos) {
    return known.put(peer, overRdma, nanos);
  }

  /** Notes that TCP does not lead to a peer any more. */
  void forgetTcp(InetSocketAddress peer) {
    known.remove(peer, false);
  }
}
