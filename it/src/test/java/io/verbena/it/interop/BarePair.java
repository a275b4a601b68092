package io.verbena.it.interop;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.it.node.Side;
import io.verbena.verbs.Access;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.Gid;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import java.io.IOException;
import java.net.InetAddress;
import java.util.Set;

/** Queue pairs that no connection manager connects. */
final class BarePair {
  /** The first PSN that they send. */
  static final int PSN = 0xabcde;

  private static final Mtu MTU = Mtu.MTU_1024;

  private BarePair() {}

  /** Creates one, in INIT. */
  static QueuePair create(Side side, Set<Access> access) {
    QueuePair pair =
        side.domain()
            .createQueuePair(QueuePairOptions.reliable(side.queue(), side.queue(), 16, 16));
    pair.modify(
        new QueuePairAttributes().state(QueuePairState.INIT).pkeyIndex(0).port(1).access(access));
    return pair;
  }

  /** Which of the port's GIDs is of this IPv4 address. */
  static int gidIndex(Side side, String address) throws IOException {
    byte[] bytes = InetAddress.getByName(address).getAddress();
    long low = 0xffffL << 32;
    for (int i = 0; i < 4; i++) {
      low |= (bytes[i] & 0xffL) << (24 - 8 * i);
    }
    int index = side.device().port().gids().indexOf(new Gid(0, low));
    assertThat(index).as("GID of %s", address).isNotNegative();
    return index;
  }

  /**
   * Brings one to RTS.
   *
   * @param peer the number of the peer's queue pair
   * @param psn the first that the peer sends
   * @param to the peer's GID
   * @param from the index of ours
   */
  static void connect(QueuePair pair, int peer, int psn, Gid to, int from) {
    pair.modify(
        new QueuePairAttributes()
            .state(QueuePairState.RTR)
            .addressVector(new AddressVector(to, from, 1, 0, 0))
            .pathMtu(MTU)
            .destinationQueuePair(peer)
            .receivePsn(psn)
            .maxDestinationReadAtomic(1)
            .minRnrTimer(12));
    pair.modify(
        new QueuePairAttributes()
            .state(QueuePairState.RTS)
            .timeout(14)
            .retryCount(7)
            .rnrRetry(7)
            .sendPsn(PSN)
            .maxReadAtomic(1));
  }
}
