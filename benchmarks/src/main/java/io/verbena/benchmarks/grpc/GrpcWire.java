// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.grpc;

import io.verbena.benchmarks.peers.NettyKind;
import io.verbena.benchmarks.work.Deadline;
import io.verbena.benchmarks.work.OtherProcess;
import io.verbena.benchmarks.work.UnaryCalls;

/** gRPC over a Netty transport between two processes, with one event loop in each. */
public final class GrpcWire implements UnaryCalls {
  private final OtherProcess other;
  private final GrpcClient client;

  public GrpcWire(NettyKind kind, int lines, int size) throws Exception {
    other = new OtherProcess(Served.class, kind, lines, size);
    client = new GrpcClient(kind, kind.parse(other.line()), lines, size, () -> null);
  }

  @Override
  public void call(long calls, Deadline deadline) throws Exception {
    client.call(calls, deadline);
  }

  @Override
  public void close() {
    try (other) {
      client.close();
    }
  }

  /** The server, in the other process. */
  static final class Served {
    private Served() {}

    /** Arguments: the kind of its loop, the number of lines, and the size of the messages. */
    public static void main(String[] arguments) throws Exception {
      OtherProcess.endWithParent();
      NettyKind kind = NettyKind.valueOf(arguments[0]);
      Echo echo =
          new Echo(
              Integer.parseInt(arguments[1]), Integer.parseInt(arguments[2]), OtherProcess::fail);
      System.out.println(NettyKind.format(new GrpcServer(kind, echo).address()));
    }
  }
}
