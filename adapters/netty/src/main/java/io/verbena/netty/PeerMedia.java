// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.verbena.core.medium.PeerMemory;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Whether RDMA leads to a peer, as the connects of an HCA have found out; else TCP did. Of those
 * that do not know, one finds out for all, however many connect at once. Thread-safe.
 *
 * <p>It holds the latest peers, and those to which a connect is under way.
 */
final class PeerMedia {
  private final PeerMemory<InetSocketAddress, Boolean> known = new PeerMemory<>();
  private final Map<InetSocketAddress, CompletableFuture<@Nullable Boolean>> asked =
      new HashMap<>();

  /**
   * Asks for a peer.
   *
   * @param nanos how old an answer may be; an older one serves while another connect finds out
   * @return the answer, when it is there; null within it from who gave up. Null if the caller is to
   *     find out, and then to {@link #end}
   */
  synchronized @Nullable CompletableFuture<@Nullable Boolean> ask(
      InetSocketAddress peer, long nanos) {
    CompletableFuture<@Nullable Boolean> other = asked.get(peer);
    Boolean leads = other == null ? known.get(peer, nanos) : known.get(peer);
    if (leads != null) {
      return CompletableFuture.completedFuture(leads);
    }
    if (other == null) {
      asked.put(peer, new CompletableFuture<>());
    }
    return other;
  }

  /** Answers who wait that RDMA does not lead to a peer, and until {@link #end} who asks. */
  void answerNo(InetSocketAddress peer) {
    CompletableFuture<@Nullable Boolean> answer;
    synchronized (this) {
      answer = asked.get(peer);
    }
    if (answer != null) {
      answer.complete(false);
    }
  }

  /**
   * Ends the finding out, and answers who still wait; on this thread.
   *
   * @param leads whether RDMA leads to the peer; null if that was not found out
   */
  void end(InetSocketAddress peer, @Nullable Boolean leads) {
    CompletableFuture<@Nullable Boolean> answer;
    synchronized (this) {
      answer = asked.remove(peer);
    }
    if (answer != null) {
      answer.complete(leads);
    }
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
