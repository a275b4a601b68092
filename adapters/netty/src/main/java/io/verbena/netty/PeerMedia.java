// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.verbena.core.medium.PeerMemory;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Remembers for each peer whether the connects of an HCA reached it over RDMA or over TCP. If that
 * is not known, one connect finds out for all that connect to the peer at the same time.
 * Thread-safe.
 *
 * <p>It holds the latest peers, and those for which a connect is finding out.
 */
final class PeerMedia {
  private final PeerMemory<InetSocketAddress, Boolean> known = new PeerMemory<>();
  private final Map<InetSocketAddress, Question> asked = new HashMap<>();

  /**
   * The question whether RDMA leads to a peer. It completes once; with null if no answer was found.
   * The completing thread runs the actions that wait for it.
   */
  static final class Question extends CompletableFuture<@Nullable Boolean> {
    private final @Nullable Object asker;
    private final long since = System.nanoTime();

    private Question(@Nullable Object asker) {
      this.asker = asker;
    }

    /** Returns whether this connect is to find out, and then to call {@link PeerMedia#end}. */
    boolean isOf(Object connect) {
      return asker == connect;
    }
  }

  /**
   * Asks whether RDMA leads to a peer.
   *
   * @param connect the connect that asks
   * @param nanos the age that an answer may have; an older one is used only while another connect
   *     finds out
   * @param patience how long another connect may take to find out, in nanoseconds: one whose loop
   *     has ended never answers
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

  /**
   * Completes a question, which ends the finding out.
   *
   * @param leads whether RDMA leads to the peer; null if that was not found out
   */
  void end(InetSocketAddress peer, Question question, @Nullable Boolean leads) {
    synchronized (this) {
      asked.remove(peer, question);
    }
    question.complete(leads);
  }

  /**
   * Notes that a connect has succeeded.
   *
   * @param nanos how long the medium is remembered
   * @return whether it is another medium than before, or the first
   */
  boolean remember(InetSocketAddress peer, boolean overRdma, long nanos) {
    return known.put(peer, overRdma, nanos);
  }

  /** Forgets that TCP leads to a peer. */
  void forgetTcp(InetSocketAddress peer) {
    known.remove(peer, false);
  }
}
