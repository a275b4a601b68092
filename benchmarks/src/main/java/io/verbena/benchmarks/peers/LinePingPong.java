// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.peers;

import io.verbena.benchmarks.work.Deadline;
import io.verbena.benchmarks.work.PaddedLong;
import io.verbena.benchmarks.work.Ping;
import io.verbena.benchmarks.work.PingPong;
import io.verbena.benchmarks.work.Pong;
import io.verbena.benchmarks.work.SecondThread;

/** The limit of a round trip: one cache line in each direction that contains only a number. */
public final class LinePingPong implements PingPong {
  private final PaddedLong there = new PaddedLong();
  private final PaddedLong back = new PaddedLong();
  private final SecondThread second = new SecondThread();
  private long last;

  @Override
  public void exchange(long rounds, Ping ping, Pong pong, Deadline deadline) throws Exception {
    long before = last;
    second.together(
        spin -> {
          long seen = before;
          for (long i = 0; i < rounds; i++) {
            there.setRelease(ping.send());
            long reply;
            while ((reply = back.getAcquire()) == seen) {
              spin.spin();
            }
            seen = reply;
            ping.receive(reply);
          }
        },
        spin -> {
          long seen = before;
          for (long i = 0; i < rounds; i++) {
            long message;
            while ((message = there.getAcquire()) == seen) {
              spin.spin();
            }
            seen = message;
            back.setRelease(pong.reply(message));
          }
        },
        deadline);
    last = back.getAcquire();
  }

  @Override
  public void close() {
    second.close();
  }
}
