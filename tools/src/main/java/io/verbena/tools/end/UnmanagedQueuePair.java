// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.end;

import io.verbena.verbs.Access;
import io.verbena.verbs.AddressHandle;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.PortAttributes;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.SharedReceiveQueue;
import java.security.SecureRandom;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A queue pair that no connection manager connects: the ends exchange their addresses by other
 * means. For one thread; its end closes it.
 */
public final class UnmanagedQueuePair extends TestQueuePair {
  /** The queue key of datagrams in rdma-core's examples and perftest. */
  public static final int QUEUE_KEY = 0x11111111;

  private static final int PSN_BITS = 24;
  private static final int MIN_RNR_TIMER = 12;
  private static final int MOST_RETRIES = 7;

  private final End end;
  private final int gidIndex;
  private @Nullable AddressHandle handle;
  private int remote;

  private UnmanagedQueuePair(End end, QueuePair pair, PortAttributes port, int gidIndex) {
    super(
        pair,
        new QueuePairAddress(
            port.lid(),
            pair.number(),
            new SecureRandom().nextInt(1 << PSN_BITS),
            SourceGid.of(port, gidIndex)));
    this.end = end;
    this.gidIndex = gidIndex;
  }

  /**
   * Creates one, in INIT: receives may be posted.
   *
   * @param receives size of its receive queue, unless the end's queue pairs share one
   * @param gidIndex index of the GID that it sends from, or {@link SourceGid#NONE}
   * @param access rights of the peer through it
   * @throws io.verbena.verbs.VerbsException if the device cannot do that
   */
  public static UnmanagedQueuePair create(
      End end,
      QueuePairType type,
      int sends,
      int receives,
      int inline,
      int gidIndex,
      Set<Access> access) {
    QueuePairOptions options =
        QueuePairOptions.reliable(end.sent(), end.received(), sends, receives)
            .withType(type)
            .withInlineData(inline);
    SharedReceiveQueue shared = end.shared();
    QueuePair pair =
        end.keep(
            end.domain()
                .createQueuePair(
                    shared == null ? options : options.withSharedReceiveQueue(shared)));
    PortAttributes port = end.device().port();
    QueuePairAttributes init =
        new QueuePairAttributes().state(QueuePairState.INIT).pkeyIndex(0).port(port.number());
    pair.modify(type == QueuePairType.UD ? init.queueKey(QUEUE_KEY) : init.access(access));
    return new UnmanagedQueuePair(end, pair, port, gidIndex);
  }

  /**
   * Brings it to RTS.
   *
   * @param peer the other end
   * @param mtu payload per packet
   * @param timeout code of the time to wait for an acknowledgement, 0 to 31
   * @param outstanding the most READs and atomics that it has under way
   * @param served the most READs and atomics that the peer has under way
   */
  public void connect(QueuePairAddress peer, Mtu mtu, int timeout, int outstanding, int served) {
    connect(peer, mtu, timeout, outstanding, served, 0);
  }

  /**
   * Brings it to RTS, with a service level.
   *
   * @param serviceLevel of InfiniBand, 0 to 15
   */
  public void connect(
      QueuePairAddress peer, Mtu mtu, int timeout, int outstanding, int served, int serviceLevel) {
    int lid = here().lid() == 0 ? 0 : peer.lid();
    AddressVector way =
        new AddressVector(peer.gid(), Math.max(0, gidIndex), 64, 0, 0, lid, serviceLevel);
    remote = peer.queuePair();
    QueuePairAttributes receive = new QueuePairAttributes().state(QueuePairState.RTR);
    QueuePairAttributes send =
        new QueuePairAttributes().state(QueuePairState.RTS).sendPsn(here().psn());
    if (pair().type() == QueuePairType.UD) {
      handle = end.keep(end.domain().createAddressHandle(way));
    } else {
      receive
          .addressVector(way)
          .pathMtu(mtu)
          .destinationQueuePair(peer.queuePair())
          .receivePsn(peer.psn());
    }
    if (pair().type() == QueuePairType.RC) {
      receive.maxDestinationReadAtomic(served).minRnrTimer(MIN_RNR_TIMER);
      send.timeout(timeout)
          .retryCount(MOST_RETRIES)
          .rnrRetry(MOST_RETRIES)
          .maxReadAtomic(outstanding);
    }
    pair().modify(receive);
    pair().modify(send);
  }

  @Override
  public SendWorkRequest addressed(SendWorkRequest request) {
    AddressHandle to = handle;
    return to == null ? request : request.to(to, remote, QUEUE_KEY);
  }
}
