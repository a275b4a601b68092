// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.end;

import io.verbena.verbs.Gid;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.SharedReceiveQueue;

/** A queue pair that a test posts to. For one thread; its end closes it. */
public class TestQueuePair {
  private final QueuePair pair;
  private final QueuePairAddress here;

  /**
   * Creates one that a connection manager connects.
   *
   * @param lid of its port
   * @param gid of its port
   */
  public TestQueuePair(QueuePair pair, int lid, Gid gid) {
    this(pair, new QueuePairAddress(lid, pair.number(), 0, gid));
  }

  TestQueuePair(QueuePair pair, QueuePairAddress here) {
    this.pair = pair;
    this.here = here;
  }

  /** Its address, for the peer. */
  public final QueuePairAddress here() {
    return here;
  }

  /** The queue pair. */
  public final QueuePair pair() {
    return pair;
  }

  /** Posts a receive: for this queue pair, or for all that share their receives with it. */
  public final void postReceive(ReceiveWorkRequest request) {
    SharedReceiveQueue shared = pair.sharedReceiveQueue();
    if (shared == null) {
      pair.postReceive(request);
    } else {
      shared.postReceive(request);
    }
  }

  /** Sets the peer's address in a request; only datagrams need it. */
  public SendWorkRequest addressed(SendWorkRequest request) {
    return request;
  }
}
