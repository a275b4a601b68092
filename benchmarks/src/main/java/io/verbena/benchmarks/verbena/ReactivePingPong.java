// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.verbena;

import io.verbena.PollMode;
import io.verbena.benchmarks.work.Deadline;
import io.verbena.benchmarks.work.Ping;
import io.verbena.benchmarks.work.PingPong;
import io.verbena.benchmarks.work.Pong;
import java.util.concurrent.CompletableFuture;

/** Round trips through {@code Flux}: each end maps the received messages to those it sends. */
public final class ReactivePingPong implements PingPong {
  private final ReactivePair pair;
  private final ReactivePings pings;
  private final ReactivePongs pongs;

  public ReactivePingPong(PollMode mode, int size) {
    pair = new ReactivePair(mode, mode);
    pings = new ReactivePings(pair.client(), size);
    pongs = new ReactivePongs(pair.server(), size);
  }

  @Override
  public void exchange(long rounds, Ping ping, Pong pong, Deadline deadline) throws Exception {
    pongs.answerBy(pong);
    deadline.await(CompletableFuture.anyOf(pings.exchange(rounds, ping), pongs.ended()));
  }

  @Override
  public void close() {
    pings.release();
    pongs.release();
    pair.close();
  }
}
