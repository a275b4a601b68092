// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import io.verbena.emulated.roce.RocePacket;
import io.verbena.emulated.wire.UdpGid;
import io.verbena.emulated.wire.UnreachableReports;
import io.verbena.emulated.wire.VirtualTime;
import io.verbena.verbs.Gid;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;

/** Ports on a network that loses, repeats, delays and reorders messages according to a seed. */
final class Network {
  static final long MILLI = 1_000_000;

  final VirtualTime time = new VirtualTime();
  private final SplittableRandom random;
  private final double loss;
  private final List<End> ends = new ArrayList<>();
  private final Set<Gid> absent = new HashSet<>();
  private int messages;
  private int listening;

  Network(long seed, double loss) {
    random = new SplittableRandom(seed);
    this.loss = loss;
  }

  End end() {
    return end(PeerLimits.DEFAULT);
  }

  End end(PeerLimits limits) {
    End end = new End(ends.size() + 1, limits);
    ends.add(end);
    return end;
  }

  /** Returns the number of messages sent. */
  int messages() {
    return messages;
  }

  /** Removes an HCA for a time, in which its host refuses all messages. */
  void absent(End end, long nanos) {
    absent.add(end.gid());
    time.schedule(nanos, () -> absent.remove(end.gid()));
  }

  /** Returns the number of subscriptions to refusals by hosts. */
  int listening() {
    return listening;
  }

  /** Returns a random delay. */
  long soon(int mostMillis) {
    return random.nextLong(mostMillis * MILLI);
  }

  void runToEnd() {
    while (time.runDue() || time.advance(Long.MAX_VALUE)) {}
  }

  void runUntil(long moment) {
    time.schedule(moment - time.now(), () -> {});
    while (time.runDue() || time.advance(moment)) {}
  }

  /** A port and its agent. */
  final class End implements CmPort {
    private final int address;
    final CmAgent agent;
    private int comparisons;
    private int unreachableReports;

    private End(int address, PeerLimits limits) {
      this.address = address;
      agent = new CmAgent(this, time, limits);
    }

    /** Returns how often an address was compared with that of a connection. */
    int comparisons() {
      return comparisons;
    }

    @Override
    public Gid gid() {
      return UdpGid.of(address, RocePacket.UDP_PORT);
    }

    @Override
    public long guid() {
      return address;
    }

    @Override
    public int mtu() {
      return 5;
    }

    @Override
    public void send(CmMessage message, Gid to) {
      messages++;
      ByteBuffer mad = ByteBuffer.allocate(Mad.LENGTH);
      Mad.write(message, mad);
      int copies = random.nextDouble() < loss ? 0 : random.nextDouble() < loss ? 2 : 1;
      for (int i = 0; i < copies; i++) {
        long delay = random.nextDouble() < loss ? soon(300) : soon(1);
        time.schedule(delay, () -> arrive(mad, to));
      }
    }

    private void arrive(ByteBuffer mad, Gid to) {
      if (absent.contains(to)) {
        unreachableReports++;
        return;
      }
      for (End end : ends) {
        if (end.gid().equals(to)) {
          end.agent.receive(Mad.read(mad), gid());
        }
      }
    }

    @Override
    public UnreachableReports unreachableReports(Gid of) {
      listening++;
      return new UnreachableReports() {
        @Override
        public int count() {
          return unreachableReports;
        }

        @Override
        public void close() {
          listening--;
        }
      };
    }

    @Override
    public boolean isFrom(Gid source, Gid gid) {
      comparisons++;
      return UdpGid.areNeighbors(source, gid);
    }

    @Override
    public int nextSecret() {
      return random.nextInt();
    }
  }
}
