// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.verbena;

import io.verbena.benchmarks.work.Deadline;
import io.verbena.benchmarks.work.OtherProcess;
import io.verbena.benchmarks.work.Ping;
import io.verbena.benchmarks.work.PingPong;
import io.verbena.benchmarks.work.Pong;
import io.verbena.benchmarks.work.Spin;
import io.verbena.verbs.QueuePair;

/** Round trips by SEND and RECV between two processes, both ends polling. */
public final class WirePingPong implements PingPong {
  private final OtherProcess other;
  private final VerbsEnd end;
  private final SendRing pings;
  private final ReceiveRing pongs;

  public WirePingPong(int size, WireHosts hosts) throws Exception {
    other = new OtherProcess(WireOther.class, hosts.there(), size, size);
    WireOther.RemoteTarget target = WireOther.RemoteTarget.decode(other.line());
    end = new VerbsEnd(hosts.here());
    QueuePair pair = end.connect(target.address());
    pings = new SendRing(end, pair, size, WireOther.RECEIVES);
    pongs = new ReceiveRing(end, pair, size, WireOther.RECEIVES);
  }

  @Override
  public void exchange(long rounds, Ping ping, Pong pong, Deadline deadline) throws Exception {
    Spin spin = deadline.spin();
    for (long i = 0; i < rounds; i++) {
      ping.send(pings.next(spin));
      pings.post();
      while (pongs.poll() == 0) {
        spin.spin();
      }
      ping.receive(pongs.message(0), pongs.length(0));
      pongs.repost(0);
    }
  }

  @Override
  public void close() {
    try (other) {
      end.close();
    }
  }
}
