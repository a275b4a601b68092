// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.cost;

import io.verbena.PollMode;
import io.verbena.RdmaMemory;
import io.verbena.RdmaOptions;
import io.verbena.RdmaTransport;
import io.verbena.RemoteMemory;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import org.jspecify.annotations.Nullable;

/** The passive end at the reactive layer, which sends each message back unchanged. */
final class ReactivePassive implements PassiveEnd {
  private final RdmaTransport transport;
  private final RdmaMemory.Region region;

  ReactivePassive(ConnectionAddress address, Job job, ByteBuffer block) {
    // No thread polls where nothing arrives, as in perftest.
    transport =
        RdmaTransport.create(options(job == Job.PING_PONG ? PollMode.BUSY : PollMode.EVENT));
    try {
      region =
          transport
              .memory(address.uri())
              .register(block, EnumSet.of(RemoteMemory.Right.READ, RemoteMemory.Right.WRITE));
      present(
          transport
              .bind(address.uri(), connection -> connection.send(connection.receive()))
              .block(Limits.CONNECT));
    } catch (RuntimeException e) {
      transport.dispose();
      throw e;
    }
  }

  static RdmaOptions options(PollMode mode) {
    return RdmaOptions.builder().pollMode(mode).sendDepth(Job.DEPTH).build();
  }

  static <T> T present(@Nullable T value) {
    if (value == null) {
      throw new IllegalStateException("value: none (expected: one)");
    }
    return value;
  }

  @Override
  public RemoteBlock target() {
    return new RemoteBlock(region.token().address(), region.token().key());
  }

  @Override
  public void accept() {
    // The active end's connect completes after the handshake of this end.
  }

  @Override
  public void pong(int rounds) {
    // The completion loop answers.
  }

  @Override
  public void close() {
    region.close();
    transport.dispose();
  }
}
