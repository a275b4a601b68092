// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.verbena;

import io.verbena.benchmarks.work.Deadline;
import io.verbena.benchmarks.work.Ping;
import io.verbena.benchmarks.work.PingPong;
import io.verbena.benchmarks.work.Pong;
import io.verbena.benchmarks.work.SecondThread;
import io.verbena.benchmarks.work.Spin;
import java.util.concurrent.TimeoutException;

/** Round trips by SEND and RECV at the verbs SPI, both ends polling. */
public final class VerbsPingPong implements PingPong {
  private static final int GROUP = 16;
  private static final int RECEIVES = 16;

  private final VerbsPair pair = new VerbsPair();
  private final SendRing pings;
  private final SendRing pongs;
  private final ReceiveRing atServer;
  private final ReceiveRing atClient;
  private final SecondThread second = new SecondThread();

  public VerbsPingPong(int size) throws Exception {
    pings = new SendRing(pair.client, pair.atClient, size, GROUP);
    pongs = new SendRing(pair.server, pair.atServer, size, GROUP);
    atServer = new ReceiveRing(pair.server, pair.atServer, size, RECEIVES);
    atClient = new ReceiveRing(pair.client, pair.atClient, size, RECEIVES);
  }

  @Override
  public void exchange(long rounds, Ping ping, Pong pong, Deadline deadline) throws Exception {
    second.together(
        spin -> {
          for (long i = 0; i < rounds; i++) {
            ping.send(pings.next(spin));
            pings.post();
            await(atClient, spin);
            ping.receive(atClient.message(0), atClient.length(0));
            atClient.repost(0);
          }
        },
        spin -> {
          for (long i = 0; i < rounds; i++) {
            await(atServer, spin);
            pong.receive(atServer.message(0), atServer.length(0));
            pong.send(pongs.next(spin));
            pongs.post();
            atServer.repost(0);
          }
        },
        deadline);
  }

  private static void await(ReceiveRing ring, Spin spin) throws TimeoutException {
    while (ring.poll() == 0) {
      spin.spin();
    }
  }

  @Override
  public void close() {
    second.close();
    pair.close();
  }
}
