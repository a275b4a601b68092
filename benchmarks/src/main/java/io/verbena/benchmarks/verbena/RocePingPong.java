// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.verbena;

import io.verbena.benchmarks.work.Deadline;
import io.verbena.benchmarks.work.OtherProcess;
import io.verbena.benchmarks.work.Ping;
import io.verbena.benchmarks.work.PingPong;
import io.verbena.benchmarks.work.Pong;
import io.verbena.benchmarks.work.Spin;
import io.verbena.verbs.QueuePair;

/** SEND and RECV to and fro by RoCEv2 between two processes, both ends polling. */
public final class RocePingPong implements PingPong {
  private final OtherProcess other;
  private final VerbsEnd end;
  private final SendRing pings;
  private final ReceiveRing pongs;

  public RocePingPong(int size, RoceHosts hosts) throws Exception {
    other = new OtherProcess(RoceOther.class, hosts.there(), size, size);
    RoceOther.RemoteTarget target = RoceOther.RemoteTarget.decode(other.line());
    end = new VerbsEnd(hosts.here());
    QueuePair pair = end.connect(target.address());
    pings = new SendRing(end, pair, size, RoceOther.RECEIVES);
    pongs = new ReceiveRing(end, pair, size, RoceOther.RECEIVES);
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
