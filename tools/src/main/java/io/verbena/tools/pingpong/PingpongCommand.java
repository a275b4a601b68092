package io.verbena.tools.pingpong;

import io.verbena.tools.end.BarePair;
import io.verbena.tools.end.End;
import io.verbena.tools.end.Ends;
import io.verbena.tools.end.Gids;
import io.verbena.tools.end.Patience;
import io.verbena.tools.end.Peer;
import io.verbena.tools.end.Place;
import io.verbena.tools.end.ToolFailure;
import io.verbena.tools.end.Wiring;
import io.verbena.verbs.Access;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.provider.GlobalRoute;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.Socket;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code verbena pingpong}. */
@Command(
    name = "pingpong",
    header = "send messages to and fro, as ibv_rc_pingpong, ibv_uc_pingpong and ibv_ud_pingpong",
    description = {
      "Without a host it is the server and waits for a client; with one it connects to the server"
          + " there. The ends tell each other over TCP where their queue pairs are, and then send"
          + " messages in turn, the client first. The other end may be the program of rdma-core.",
      "Give both ends the same -s, -n, --transport and -c."
    },
    footer = {
      "  verbena pingpong --local",
      "  verbena pingpong -d disni://10.0.0.2                     # the server",
      "  verbena pingpong -d disni://10.0.0.1 -s 65536 10.0.0.2   # its client"
    })
public final class PingpongCommand implements Callable<Integer>, Ends.Role {
  private static final int TIMEOUT = 14;
  private static final int MAX_SIZE = 1 << 30;
  private static final int DEFAULT_SIZE = 4096;
  private static final int DEFAULT_DATAGRAM = 2048;

  @Spec private @Nullable CommandSpec spec;

  @Mixin private final Wiring wiring = new Wiring();

  @Option(
      names = "--transport",
      paramLabel = "TYPE",
      description = "rc, uc or ud (default: ${DEFAULT-VALUE}).")
  private QueuePairType type = QueuePairType.RC;

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
      description = "Messages each way (default: ${DEFAULT-VALUE}).")
  private int iterations = 1000;

  @Option(
      names = {"-g", "--gid-idx"},
      paramLabel = "INDEX",
      description = "The local port's GID to send from (default: that of the device's address).")
  private @Nullable Integer gid;

  @Option(
      names = {"-c", "--chk"},
      description = {
        "Validate what is received. The client compares every byte that comes back; the server"
            + " looks at the marks in every page."
      })
  private boolean check;

  @Parameters(paramLabel = "HOST", arity = "0..1", description = "The server's host, or its URI.")
  private @Nullable String host;

  private @Nullable Place place;

  @Override
  public Integer call() throws Exception {
    Place here = wiring.place(host);
    place = here;
    if (size() < 1 || size() > MAX_SIZE) {
      throw wiring.wrong("-s: " + size() + " (expected: 1.." + MAX_SIZE + ")");
    }
    if (rxDepth < 1) {
      throw wiring.wrong("-r: " + rxDepth + " (expected: >= 1)");
    }
    if (iterations < 1) {
      throw wiring.wrong("-n: " + iterations + " (expected: >= 1)");
    }
    mtu();
    Ends.run(here, wiring.isLocal(), this);
    return 0;
  }

  private int size() {
    int byDefault = type == QueuePairType.UD ? DEFAULT_DATAGRAM : DEFAULT_SIZE;
    return size == null ? byDefault : size;
  }

  private Mtu mtu() {
    for (Mtu each : Mtu.values()) {
      if (each.bytes() == mtu) {
        return each;
      }
    }
    throw wiring.wrong("-m: " + mtu + " (expected: 256, 512, 1024, 2048 or 4096)");
  }

  @Override
  public void run(Socket socket, boolean client, boolean told) throws IOException, ToolFailure {
    Place here = Objects.requireNonNull(place, "place");
    int header = type == QueuePairType.UD ? GlobalRoute.LENGTH : 0;
    Set<Access> access = EnumSet.of(Access.LOCAL_WRITE);
    try (End end = End.open(here.device(), 2 * size() + header, access, 2, rxDepth + 1)) {
      int most = end.device().port().activeMtu().bytes();
      if (type == QueuePairType.UD && size() > most) {
        throw new ToolFailure(
            "Requested size larger than port MTU (" + most + ")", "give both ends -s " + most);
      }
      int index = Gids.index(end.device().port().gids(), here.device(), gid);
      BarePair pair = BarePair.create(end, type, 1, rxDepth, 0, index, Set.of());
      Pingpong pingpong =
          new Pingpong(end, pair, size(), header, rxDepth, new Patience(wiring.limit()));
      pingpong.prepare(client, check);
      tell(told, "local", pair.here());
      Peer peer = introduce(socket, pair, client);
      tell(told, "remote", peer);
      long nanos = pingpong.play(iterations);
      if (told) {
        summarize(nanos);
      }
    }
  }

  private Peer introduce(Socket socket, BarePair pair, boolean client)
      throws IOException, ToolFailure {
    if (client) {
      PingpongAddress.write(pair.here(), socket.getOutputStream());
      Peer peer = PingpongAddress.read(socket.getInputStream());
      pair.connect(peer, mtu(), TIMEOUT, 1, 1);
      PingpongAddress.writeDone(socket.getOutputStream());
      return peer;
    }
    Peer peer = PingpongAddress.read(socket.getInputStream());
    pair.connect(peer, mtu(), TIMEOUT, 1, 1);
    PingpongAddress.write(pair.here(), socket.getOutputStream());
    PingpongAddress.readDone(socket.getInputStream());
    return peer;
  }

  private void tell(boolean told, String whose, Peer peer) {
    if (told) {
      out()
          .printf(
              Locale.ROOT,
              "  %-15s LID 0x%04x, QPN 0x%06x, PSN 0x%06x, GID %s%n",
              whose + " address:",
              0,
              peer.queuePair(),
              peer.psn(),
              Peer.text(peer.gid()));
      out().flush();
    }
  }

  private void summarize(long nanos) {
    long bytes = 2L * size() * iterations;
    double usec = nanos / 1000.;
    out()
        .printf(
            Locale.ROOT,
            "%d bytes in %.2f seconds = %.2f Mbit/sec%n",
            bytes,
            usec / 1_000_000,
            bytes * 8. / usec);
    out()
        .printf(
            Locale.ROOT,
            "%d iters in %.2f seconds = %.2f usec/iter%n",
            iterations,
            usec / 1_000_000,
            usec / iterations);
    out().flush();
  }

  private PrintWriter out() {
    return Objects.requireNonNull(spec, "spec").commandLine().getOut();
  }
}
