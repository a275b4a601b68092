// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.pingpong;

import io.verbena.tools.end.CompletionWait;
import io.verbena.tools.end.End;
import io.verbena.tools.end.QueuePairAddress;
import io.verbena.tools.end.SourceGid;
import io.verbena.tools.end.TestAddress;
import io.verbena.tools.end.TestOptions;
import io.verbena.tools.end.TestRun;
import io.verbena.tools.end.ToolFailure;
import io.verbena.tools.end.UnmanagedQueuePair;
import io.verbena.verbs.Access;
import io.verbena.verbs.GlobalRoute;
import io.verbena.verbs.QueuePairType;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.net.URI;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code verbena pingpong}. */
@Command(
    name = "pingpong",
    header = "send messages to and fro, as ibv_rc_pingpong and its kin for uc, ud and srq",
    description = {
      "Without a host it is the server and waits for a client; with one it connects to the server"
          + " there. The ends tell each other over TCP where their queue pairs are, and then send"
          + " messages in turn, the client first. The other end may be the program of rdma-core.",
      "Give both ends the same -s, -n, --transport, -c, --srq and -q."
    },
    footer = {
      "  verbena pingpong --local",
      "  verbena pingpong --local --srq -q 4",
      "  verbena pingpong -d disni://10.0.0.2                     # the server",
      "  verbena pingpong -d disni://10.0.0.1 -s 65536 10.0.0.2   # its client"
    })
public final class PingpongCommand implements Callable<Integer>, TestRun.Role {
  private static final int TIMEOUT = 14;

  /** Two messages, what stands in front of one, and a page to align them in are one buffer. */
  private static final int MAX_SIZE = (1 << 30) - 8192;

  private static final int DEFAULT_SIZE = 4096;
  private static final int DEFAULT_DATAGRAM = 2048;

  /**
   * The most queue pairs of ibv_srq_pingpong, and the number of addresses that its ends always
   * exchange.
   */
  private static final int MAX_PAIRS = 256;

  private static final int DEFAULT_PAIRS = 16;

  private static final int MAX_SERVICE_LEVEL = 15;

  @Mixin private final TestOptions options = new TestOptions();

  @Option(
      names = "--transport",
      paramLabel = "TYPE",
      description = "rc, uc or ud (default: ${DEFAULT-VALUE}).")
  private QueuePairType type = QueuePairType.RC;

  @Option(
      names = "--srq",
      description = "Queue pairs that share a receive queue, as ibv_srq_pingpong; rc only.")
  private boolean srq;

  @Option(
      names = {"-q", "--num-qp"},
      paramLabel = "N",
      description = "Queue pairs, with --srq (default: 16).")
  private @Nullable Integer pairs;

  @Option(
      names = {"-s", "--size"},
      paramLabel = "BYTES",
      description = "Size of a message (default: 4096; 2048 for ud).")
  private @Nullable Integer size;

  @Option(
      names = {"-m", "--mtu"},
      paramLabel = "BYTES",
      description = "Path MTU: 256, 512, 1024, 2048 or 4096 (default: ${DEFAULT-VALUE}).")
  private int mtu = 1024;

  @Option(
      names = {"-r", "--rx-depth"},
      paramLabel = "N",
      description = "Receives to post at a time (default: ${DEFAULT-VALUE}).")
  private int rxDepth = 500;

  @Option(
      names = {"-n", "--iters"},
      paramLabel = "N",
      description = "Messages each way, of all queue pairs (default: ${DEFAULT-VALUE}).")
  private int iterations = 1000;

  @Option(
      names = {"-g", "--gid-idx"},
      paramLabel = "INDEX",
      description =
          "The local port's GID to send from (default: that of the device's address; on InfiniBand"
              + " none, as LIDs lead there).")
  private @Nullable Integer gid;

  @Option(
      names = {"-e", "--events"},
      description = "Sleep until something completes (default: poll).")
  private boolean events;

  @Option(
      names = {"-i", "--ib-port"},
      paramLabel = "PORT",
      description = "The port of the device: the one that its URI names, as port=.")
  private @Nullable Integer ibPort;

  @Option(
      names = {"-l", "--sl"},
      paramLabel = "LEVEL",
      description = "Service level of InfiniBand, 0 to 15 (default: ${DEFAULT-VALUE}).")
  private int serviceLevel;

  @Option(
      names = {"-c", "--chk"},
      description = {
        "Validate what is received. The client compares every byte that comes back; the server"
            + " looks at the marks in every page."
      })
  private boolean check;

  @Parameters(paramLabel = "HOST", arity = "0..1", description = "The server's host, or its URI.")
  private @Nullable String host;

  private @Nullable TestAddress address;

  @Override
  public Integer call() throws Exception {
    TestAddress here = options.address(host);
    address = here;
    options.refuseLocalPort();
    options.range("-s", size(), 1, MAX_SIZE);
    options.atLeast("-r", rxDepth, 1);
    options.atLeast("-n", iterations, 1);
    options.range("-l", serviceLevel, 0, MAX_SERVICE_LEVEL);
    checkPairs();
    options.mtu(mtu);
    TestRun.run(here, options.isLocal(), this);
    return 0;
  }

  private void checkPairs() {
    if (!srq && pairs != null) {
      throw options.wrong("-q: " + pairs + " (expected: with --srq)");
    }
    if (srq && type != QueuePairType.RC) {
      throw options.wrong("--srq: with --transport " + type + " (expected: RC)");
    }
    options.range("-q", pairs(), 1, MAX_PAIRS);
    if (rxDepth < pairs()) {
      throw options.wrong(
          "-r: " + rxDepth + " (expected: >= " + pairs() + ", a receive for each queue pair)");
    }
  }

  private int pairs() {
    return pairs != null ? pairs : srq ? DEFAULT_PAIRS : 1;
  }

  /** Returns the number of addresses that the ends exchange. */
  private int slots() {
    return srq ? MAX_PAIRS : 1;
  }

  private int size() {
    int byDefault = type == QueuePairType.UD ? DEFAULT_DATAGRAM : DEFAULT_SIZE;
    return size == null ? byDefault : size;
  }

  @Override
  public void run(Socket socket, boolean client, boolean prints)
      throws IOException, ToolFailure, InterruptedException {
    URI device = Objects.requireNonNull(address, "place").device();
    int header = type == QueuePairType.UD ? GlobalRoute.LENGTH : 0;
    Set<Access> access = EnumSet.of(Access.LOCAL_WRITE);
    try (End end =
        End.open(device, 2 * size() + header, access, pairs() + 1, rxDepth + 1, events)) {
      int port = end.device().port().number();
      if (ibPort != null && ibPort != port) {
        throw options.wrong("-i: " + ibPort + " (expected: " + port + ")");
      }
      int most = end.device().port().activeMtu().bytes();
      if (type == QueuePairType.UD && size() > most) {
        throw new ToolFailure(
            "Requested size larger than port MTU (" + most + ")", "give both ends -s " + most);
      }
      int index = SourceGid.index(end.device().port(), device, gid);
      if (srq) {
        end.shareReceives(rxDepth);
      }
      List<UnmanagedQueuePair> ours = new ArrayList<>();
      List<QueuePairAddress> here = new ArrayList<>();
      for (int i = 0; i < pairs(); i++) {
        ours.add(UnmanagedQueuePair.create(end, type, 1, rxDepth, 0, index, Set.of()));
        here.add(ours.get(i).here());
      }
      Pingpong pingpong =
          new Pingpong(
              end, ours, size(), header, rxDepth, new CompletionWait(end, options.limit()));
      pingpong.prepare(client, check);
      print(prints, "local", here);
      print(prints, "remote", introduce(socket, ours, here, client));
      long nanos = pingpong.play(iterations);
      if (prints) {
        summarize(nanos);
      }
      awaitEnd(socket);
    }
  }

  private List<QueuePairAddress> introduce(
      Socket socket, List<UnmanagedQueuePair> ours, List<QueuePairAddress> here, boolean client)
      throws IOException, ToolFailure {
    if (client) {
      PingpongAddress.write(here, slots(), socket.getOutputStream());
    }
    List<QueuePairAddress> peers = PingpongAddress.read(slots(), socket.getInputStream());
    if (peers.size() != ours.size()) {
      throw new ToolFailure(
          "the other end has " + peers.size() + " queue pairs (expected: " + ours.size() + ")",
          "give both ends the same -q");
    }
    for (int i = 0; i < ours.size(); i++) {
      ours.get(i).connect(peers.get(i), options.mtu(mtu), TIMEOUT, 1, 1, serviceLevel);
    }
    if (client) {
      PingpongAddress.writeDone(socket.getOutputStream());
    } else {
      PingpongAddress.write(here, slots(), socket.getOutputStream());
      PingpongAddress.readDone(socket.getInputStream());
    }
    return peers;
  }

  /**
   * Keeps the queue pairs until the other end no longer needs their acknowledgements. Rdma-core's
   * programs have closed the connection by now.
   */
  private static void awaitEnd(Socket socket) throws IOException {
    socket.shutdownOutput();
    socket.getInputStream().transferTo(OutputStream.nullOutputStream());
  }

  private void print(boolean prints, String whose, List<QueuePairAddress> peers) {
    for (QueuePairAddress peer : prints ? peers : List.<QueuePairAddress>of()) {
      options
          .out()
          .printf(
              Locale.ROOT,
              "  %-15s LID 0x%04x, QPN 0x%06x, PSN 0x%06x, GID %s%n",
              whose + " address:",
              peer.lid(),
              peer.queuePair(),
              peer.psn(),
              QueuePairAddress.text(peer.gid()));
      options.out().flush();
    }
  }

  private void summarize(long nanos) {
    long bytes = 2L * size() * iterations;
    double usec = nanos / 1000.;
    options
        .out()
        .printf(
            Locale.ROOT,
            "%d bytes in %.2f seconds = %.2f Mbit/sec%n",
            bytes,
            usec / 1_000_000,
            bytes * 8. / usec);
    options
        .out()
        .printf(
            Locale.ROOT,
            "%d iters in %.2f seconds = %.2f usec/iter%n",
            iterations,
            usec / 1_000_000,
            usec / iterations);
    options.out().flush();
  }
}
