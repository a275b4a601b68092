// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.FileLimit;
import io.verbena.emulated.Loopbacks;
import io.verbena.emulated.driven.DrivenFabric;
import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.emulated.hca.EmulatedProtectionDomain;
import io.verbena.emulated.hca.EmulatedQueuePair;
import io.verbena.emulated.hca.Secrets;
import io.verbena.emulated.wire.ClockTime;
import io.verbena.verbs.DeviceCounters.Counter;
import io.verbena.verbs.Gid;
import io.verbena.verbs.QueuePairOptions;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.FileChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests the sockets of an HCA in a process that can open no more files. */
@Tag("once")
class TcpSocketsTest {
  @Test
  void wakesADriverThatDoesNotKnowWhenThePortAcceptsAgain() throws Exception {
    FileLimit.run(FullProcess.class);
  }

  /** A process that has opened as many files as it may. */
  static final class FullProcess {
    private FullProcess() {}

    /** Runs in that process. */
    public static void main(String[] arguments) throws IOException {
      CountingFabric fabric = new CountingFabric();
      ClockTime time = new ClockTime();
      SocketSelector selector = new SocketSelector();
      TcpSockets sockets = new TcpSockets(fabric, time, selector, 1, null);
      try (TcpSockets.Port port =
              sockets.listen(new InetSocketAddress(Loopbacks.ADDRESS, 0), new NoProgram());
          SocketChannel peer = SocketChannel.open(port.address())) {
        assertThat(peer.isConnected()).isTrue();
        // Loading classes opens files, so all methods called below have already run once.
        List<FileChannel> files = FileLimit.openAllBut(0);
        int before = fabric.wakeUps;
        fabric.enter();
        boolean hadEffect = port.ready(SelectionKey.OP_ACCEPT);
        fabric.leave();
        int wakeUps = fabric.wakeUps - before;
        for (FileChannel each : files) {
          each.close();
        }

        assertThat(hadEffect).isFalse();
        assertThat(time.untilNext()).as("time to the next try").isLessThan(Long.MAX_VALUE);
        assertThat(wakeUps).isPositive();
      }
      selector.close();
    }
  }

  /** A fabric without devices that counts the wake-ups of its driver. */
  private static final class CountingFabric extends DrivenFabric {
    int wakeUps;

    CountingFabric() {
      super(Secrets.STRONG);
    }

    @Override
    public void wake() {
      wakeUps++;
    }

    @Override
    public EmulatedQueuePair createQueuePair(
        EmulatedProtectionDomain domain, int number, QueuePairOptions options) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Set<Counter> counted() {
      return Set.of();
    }

    @Override
    public Gid nextGid() {
      throw new UnsupportedOperationException();
    }

    @Override
    public void plug(EmulatedDevice device) {}

    @Override
    public void unplug(EmulatedDevice device) {}
  }
}
