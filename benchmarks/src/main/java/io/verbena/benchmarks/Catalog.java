// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks;

import static io.verbena.benchmarks.Role.LIMIT;
import static io.verbena.benchmarks.Role.PEER;
import static io.verbena.benchmarks.Role.VERBENA;

import io.verbena.PollMode;
import io.verbena.RdmaOptions;
import io.verbena.benchmarks.grpc.GrpcInProcess;
import io.verbena.benchmarks.grpc.GrpcNetty;
import io.verbena.benchmarks.peers.AeronMode;
import io.verbena.benchmarks.peers.AeronOneWay;
import io.verbena.benchmarks.peers.AeronPingPong;
import io.verbena.benchmarks.peers.LinePingPong;
import io.verbena.benchmarks.peers.MemcpyOneWay;
import io.verbena.benchmarks.peers.MemcpyReads;
import io.verbena.benchmarks.peers.NettyBesideSockets;
import io.verbena.benchmarks.peers.NettyIdleConnections;
import io.verbena.benchmarks.peers.NettyKind;
import io.verbena.benchmarks.peers.NettyOneWay;
import io.verbena.benchmarks.peers.NettyPingPong;
import io.verbena.benchmarks.peers.SpscCopyOneWay;
import io.verbena.benchmarks.peers.SpscOneWay;
import io.verbena.benchmarks.peers.SpscPingPong;
import io.verbena.benchmarks.ratis.RaftAppends;
import io.verbena.benchmarks.ratis.RaftRpc;
import io.verbena.benchmarks.rsocket.OverLocal;
import io.verbena.benchmarks.rsocket.OverRdma;
import io.verbena.benchmarks.rsocket.OverTcp;
import io.verbena.benchmarks.rsocket.RSocketCalls;
import io.verbena.benchmarks.rsocket.RSocketStream;
import io.verbena.benchmarks.rsocket.RSocketTransport;
import io.verbena.benchmarks.verbena.MonoReads;
import io.verbena.benchmarks.verbena.ReactiveIdleConnections;
import io.verbena.benchmarks.verbena.ReactiveOneWay;
import io.verbena.benchmarks.verbena.ReactivePingPong;
import io.verbena.benchmarks.verbena.VerbsOneWay;
import io.verbena.benchmarks.verbena.VerbsPingPong;
import io.verbena.benchmarks.verbena.VerbsReads;
import io.verbena.benchmarks.work.IdleConnections;
import io.verbena.benchmarks.work.Measurement;
import io.verbena.benchmarks.work.Measures;
import io.verbena.benchmarks.work.OneSided;
import io.verbena.benchmarks.work.OneWay;
import io.verbena.benchmarks.work.Participant;
import io.verbena.benchmarks.work.PingPong;
import io.verbena.benchmarks.work.Plan;
import io.verbena.benchmarks.work.ReadLayout;
import io.verbena.benchmarks.work.UnaryCalls;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;

/** All workloads and their participants, in the order of the table. */
final class Catalog {
  private static final int SMALL = 64;
  private static final int LARGE = 64 << 10;
  private static final int CALL = 1 << 10;

  /** Long, because two polling loops leave the JIT compiler little time on two CPUs. */
  private static final Duration GRPC_WARMS_UP = Duration.ofSeconds(20);

  private static final Duration RSOCKET_WARMS_UP = Duration.ofSeconds(4);
  private static final Duration RATIS_WARMS_UP = Duration.ofSeconds(10);
  private static final int CROWD = 1000;

  /** Sockets take a file descriptor at each end. */
  private static final int MOST_SOCKETS = 1000;

  private static final Duration FREQUENT = Duration.ofSeconds(1);
  private static final Duration KEEP_ALIVE = RdmaOptions.defaults().keepAlive();
  private static final Duration CROWD_SETTLES = Duration.ofSeconds(2);

  /** The bounds of the intervals in which a start is measured. */
  private static final List<Duration> START =
      Stream.of(0, 250, 500, 1000, 2000, 5000).map(Duration::ofMillis).toList();

  private final CaseList cases = new CaseList();

  private Catalog() {
    reads("read-4k", "one-sided READ 4 KiB, one thread", 4 << 10);
    reads("read-64k", "one-sided READ 64 KiB, one thread", 64 << 10);
    reads("read-1m", "one-sided READ 1 MiB, one thread", 1 << 20);
    busyRoundTrips();
    asleepRoundTrips();
    besideSockets("beside-tcp-busy", "busy", NettyKind.RDMA_BUSY);
    besideSockets("beside-tcp-asleep", "asleep between messages", NettyKind.RDMA);
    idle();
    smallMessages();
    largeMessages();
    unaryCalls(1);
    unaryCalls(64);
    requests(1);
    requests(64);
    requestStream();
    raftWrites(1);
    raftWrites(128);
    crowds();
    scales();
    starts();
    WireCatalog.addTo(cases);
  }

  static List<BenchCase<?>> cases() {
    return new Catalog().cases.all();
  }

  private void reads(String id, String title, int size) {
    ReadLayout layout = ReadLayout.of(size);
    Workload<OneSided> work =
        new Workload<>(
            id,
            title,
            "Mop/s",
            1e-6,
            true,
            (participant, plan) -> Measures.reads(participant, layout, plan));
    add(work, LIMIT, "memcpy", () -> new MemcpyReads(layout));
    add(work, VERBENA, "verbs", () -> new VerbsReads(layout));
    add(work, VERBENA, "mono", () -> new MonoReads(layout, 1));
    add(work, VERBENA, "mono-16", () -> new MonoReads(layout, 16));
  }

  private void busyRoundTrips() {
    Workload<PingPong> work =
        new Workload<>(
            "ping-busy",
            "64 B round trip, busy, p50",
            "us",
            1e-3,
            false,
            (participant, plan) -> Measures.roundTrips(participant, SMALL, plan));
    add(work, LIMIT, "line", LinePingPong::new);
    add(work, LIMIT, "spsc", () -> new SpscPingPong(SMALL));
    add(work, PEER, "aeron-invoker", () -> new AeronPingPong(AeronMode.INVOKER));
    add(work, PEER, "aeron-backoff", () -> new AeronPingPong(AeronMode.BACKOFF));
    add(work, PEER, "netty-local", () -> new NettyPingPong(NettyKind.LOCAL_BUSY, SMALL));
    add(work, PEER, "netty-nio", () -> new NettyPingPong(NettyKind.NIO_BUSY, SMALL));
    add(work, PEER, "netty-epoll", () -> new NettyPingPong(NettyKind.EPOLL_BUSY, SMALL));
    add(work, PEER, "netty-unix", () -> new NettyPingPong(NettyKind.UNIX_BUSY, SMALL));
    add(work, VERBENA, "verbs", () -> new VerbsPingPong(SMALL));
    add(work, VERBENA, "reactive", () -> new ReactivePingPong(PollMode.BUSY, SMALL));
    add(work, VERBENA, "netty", () -> new NettyPingPong(NettyKind.RDMA_BUSY, SMALL));
  }

  private void asleepRoundTrips() {
    Workload<PingPong> work =
        new Workload<>(
            "ping-asleep",
            "64 B round trip, asleep between messages, p50",
            "us",
            1e-3,
            false,
            (participant, plan) -> Measures.roundTrips(participant, SMALL, plan));
    add(work, PEER, "netty-nio", () -> new NettyPingPong(NettyKind.NIO, SMALL));
    add(work, PEER, "netty-epoll", () -> new NettyPingPong(NettyKind.EPOLL, SMALL));
    add(work, PEER, "netty-unix", () -> new NettyPingPong(NettyKind.UNIX, SMALL));
    add(work, PEER, "netty-local", () -> new NettyPingPong(NettyKind.LOCAL, SMALL));
    add(work, VERBENA, "reactive", () -> new ReactivePingPong(PollMode.EVENT, SMALL));
    add(work, VERBENA, "netty", () -> new NettyPingPong(NettyKind.RDMA, SMALL));
  }

  private void besideSockets(String id, String title, NettyKind kind) {
    Workload<PingPong> work =
        new Workload<>(
            id,
            "64 B round trip of Netty's RDMA channels, " + title + ", p50",
            "us",
            1e-3,
            false,
            (participant, plan) -> Measures.roundTrips(participant, SMALL, plan));
    add(work, VERBENA, "alone", () -> new NettyPingPong(kind, SMALL));
    add(work, VERBENA, "idle-tcp", () -> new NettyBesideSockets(kind, SMALL, false));
    add(work, VERBENA, "busy-tcp", () -> new NettyBesideSockets(kind, SMALL, true));
  }

  private void idle() {
    Workload<PingPong> work =
        new Workload<>(
            "idle",
            "CPU of an idle connection, both ends",
            "ms/s",
            1e-6,
            false,
            (participant, plan) -> Measures.idleCpu(participant, SMALL, plan));
    add(work, PEER, "netty-nio", () -> new NettyPingPong(NettyKind.NIO, SMALL));
    add(work, PEER, "netty-local", () -> new NettyPingPong(NettyKind.LOCAL, SMALL));
    add(work, PEER, "aeron-backoff", () -> new AeronPingPong(AeronMode.BACKOFF));
    add(work, VERBENA, "event", () -> new ReactivePingPong(PollMode.EVENT, SMALL));
    add(work, VERBENA, "netty", () -> new NettyPingPong(NettyKind.RDMA, SMALL));
    add(work, VERBENA, "adaptive", () -> new ReactivePingPong(PollMode.ADAPTIVE, SMALL));
  }

  private void smallMessages() {
    Workload<OneWay> work =
        new Workload<>(
            "stream-64",
            "64 B messages one way: netty and aeron-backoff sleep when idle, others poll",
            "M/s",
            1e-6,
            true,
            (participant, plan) -> Measures.messages(participant, SMALL, plan));
    add(work, LIMIT, "spsc", () -> new SpscOneWay(SMALL));
    add(work, PEER, "aeron-invoker", () -> new AeronOneWay(AeronMode.INVOKER, 4 << 20));
    add(work, PEER, "aeron-backoff", () -> new AeronOneWay(AeronMode.BACKOFF, 4 << 20));
    add(work, PEER, "netty-nio", () -> new NettyOneWay(NettyKind.NIO, SMALL));
    add(work, PEER, "netty-local", () -> new NettyOneWay(NettyKind.LOCAL, SMALL));
    add(work, VERBENA, "verbs", () -> new VerbsOneWay(SMALL));
    add(work, VERBENA, "reactive", () -> new ReactiveOneWay(SMALL));
    add(work, VERBENA, "netty", () -> new NettyOneWay(NettyKind.RDMA, SMALL));
  }

  private void largeMessages() {
    Workload<OneWay> work =
        new Workload<>(
            "stream-64k",
            "64 KiB messages one way: netty and aeron-backoff sleep when idle, others poll",
            "GB/s",
            LARGE * 1e-9,
            true,
            (participant, plan) -> Measures.messages(participant, LARGE, plan));
    add(work, LIMIT, "memcpy", () -> new MemcpyOneWay(LARGE));
    add(work, LIMIT, "spsc-copy", () -> new SpscCopyOneWay(LARGE));
    add(work, PEER, "aeron-invoker", () -> new AeronOneWay(AeronMode.INVOKER, 4 << 20));
    add(work, PEER, "aeron-backoff", () -> new AeronOneWay(AeronMode.BACKOFF, 4 << 20));
    add(work, PEER, "netty-nio", () -> new NettyOneWay(NettyKind.NIO, LARGE));
    add(work, PEER, "netty-epoll", () -> new NettyOneWay(NettyKind.EPOLL, LARGE));
    add(work, PEER, "netty-unix", () -> new NettyOneWay(NettyKind.UNIX, LARGE));
    add(work, PEER, "netty-local", () -> new NettyOneWay(NettyKind.LOCAL, LARGE));
    add(work, VERBENA, "verbs", () -> new VerbsOneWay(LARGE));
    add(work, VERBENA, "reactive", () -> new ReactiveOneWay(LARGE));
    add(work, VERBENA, "netty", () -> new NettyOneWay(NettyKind.RDMA, LARGE));
    add(work, VERBENA, "reactive-eager", () -> new ReactiveOneWay(LARGE, eager(LARGE)));
    Workload<OneWay> busy =
        new Workload<>(
            "stream-64k-busy",
            "64 KiB messages one way, busy",
            "GB/s",
            LARGE * 1e-9,
            true,
            (participant, plan) -> Measures.messages(participant, LARGE, plan));
    add(busy, PEER, "netty-nio", () -> new NettyOneWay(NettyKind.NIO_BUSY, LARGE));
    add(busy, PEER, "netty-epoll", () -> new NettyOneWay(NettyKind.EPOLL_BUSY, LARGE));
    add(busy, PEER, "netty-unix", () -> new NettyOneWay(NettyKind.UNIX_BUSY, LARGE));
    add(busy, PEER, "netty-local", () -> new NettyOneWay(NettyKind.LOCAL_BUSY, LARGE));
    add(busy, VERBENA, "netty", () -> new NettyOneWay(NettyKind.RDMA_BUSY, LARGE));
  }

  private void unaryCalls(int outstanding) {
    String title = "gRPC unary 1 KiB, " + outstanding + " outstanding, ";
    Workload<UnaryCalls> busy =
        callRate("grpc-" + outstanding + "-busy", title + "busy, direct executors");
    add(busy, LIMIT, "in-process", () -> new GrpcInProcess(outstanding, CALL));
    add(busy, PEER, "grpc-nio", () -> GrpcNetty.inThisJvm(NettyKind.NIO_BUSY, outstanding, CALL));
    add(
        busy,
        PEER,
        "grpc-epoll",
        () -> GrpcNetty.inThisJvm(NettyKind.EPOLL_BUSY, outstanding, CALL));
    add(busy, PEER, "grpc-unix", () -> GrpcNetty.inThisJvm(NettyKind.UNIX_BUSY, outstanding, CALL));
    add(busy, VERBENA, "grpc", () -> GrpcNetty.inThisJvm(NettyKind.RDMA_BUSY, outstanding, CALL));
    sleepingCalls(
        outstanding,
        callRate("grpc-" + outstanding + "-asleep", title + "asleep, direct executors"));
    sleepingCalls(
        outstanding,
        new Workload<>(
            "grpc-" + outstanding + "-cpu",
            title + "asleep: CPU of a call, both ends",
            "us",
            1e-3,
            false,
            GRPC_WARMS_UP,
            Measures::callCpu));
  }

  private static Workload<UnaryCalls> callRate(String id, String title) {
    return new Workload<>(id, title, "k/s", 1e-3, true, GRPC_WARMS_UP, Measures::calls);
  }

  private void sleepingCalls(int outstanding, Workload<UnaryCalls> work) {
    add(work, LIMIT, "in-process", () -> new GrpcInProcess(outstanding, CALL));
    add(work, PEER, "grpc-nio", () -> GrpcNetty.inThisJvm(NettyKind.NIO, outstanding, CALL));
    add(work, PEER, "grpc-epoll", () -> GrpcNetty.inThisJvm(NettyKind.EPOLL, outstanding, CALL));
    add(work, PEER, "grpc-unix", () -> GrpcNetty.inThisJvm(NettyKind.UNIX, outstanding, CALL));
    add(work, VERBENA, "grpc", () -> GrpcNetty.inThisJvm(NettyKind.RDMA, outstanding, CALL));
  }

  private void requests(int outstanding) {
    String id = "rsocket-" + outstanding;
    String title = "RSocket request-response 64 B, " + outstanding + " outstanding, ";
    overEach(
        requestRate(id + "-busy", title + "busy"),
        true,
        transport -> new RSocketCalls(transport, outstanding, SMALL));
    overEach(
        requestRate(id + "-asleep", title + "asleep"),
        false,
        transport -> new RSocketCalls(transport, outstanding, SMALL));
  }

  private static Workload<UnaryCalls> requestRate(String id, String title) {
    return new Workload<>(id, title, "k/s", 1e-3, true, RSOCKET_WARMS_UP, Measures::calls);
  }

  private void requestStream() {
    String title = "RSocket request-stream, items of 64 B, ";
    overEach(itemRate("rsocket-stream-busy", title + "busy"), true, Catalog::stream);
    overEach(itemRate("rsocket-stream-asleep", title + "asleep"), false, Catalog::stream);
  }

  private static OneWay stream(RSocketTransport transport) {
    return new RSocketStream(transport, SMALL);
  }

  private static Workload<OneWay> itemRate(String id, String title) {
    return new Workload<>(
        id,
        title,
        "M/s",
        1e-6,
        true,
        RSOCKET_WARMS_UP,
        (participant, plan) -> Measures.messages(participant, SMALL, plan));
  }

  /** RSocket's own transport within a JVM has no threads, so {@code busy} does not apply to it. */
  private <P extends Participant> void overEach(
      Workload<P> work, boolean busy, Function<RSocketTransport, P> opening) {
    NettyKind nio = busy ? NettyKind.NIO_BUSY : NettyKind.NIO;
    NettyKind epoll = busy ? NettyKind.EPOLL_BUSY : NettyKind.EPOLL;
    PollMode rdma = busy ? PollMode.BUSY : PollMode.EVENT;
    add(work, LIMIT, "local", () -> opening.apply(new OverLocal()));
    add(work, PEER, "tcp-nio", () -> opening.apply(new OverTcp(nio)));
    add(work, PEER, "tcp-epoll", () -> opening.apply(new OverTcp(epoll)));
    add(work, VERBENA, "rsocket", () -> opening.apply(new OverRdma(rdma)));
  }

  private void raftWrites(int outstanding) {
    String id = "ratis-" + outstanding;
    String title = "Ratis, three servers, writes of 1 KiB, " + outstanding + " outstanding";
    overEachRpcType(
        new Workload<>(id, title, "k/s", 1e-3, true, RATIS_WARMS_UP, Measures::calls), outstanding);
    overEachRpcType(
        new Workload<>(
            id + "-cpu",
            title + ": CPU of a write, servers and client",
            "us",
            1e-3,
            false,
            RATIS_WARMS_UP,
            Measures::callCpu),
        outstanding);
  }

  private void overEachRpcType(Workload<UnaryCalls> work, int outstanding) {
    add(work, PEER, "ratis-grpc", () -> RaftAppends.inThisJvm(RaftRpc.GRPC, outstanding, CALL));
    add(work, PEER, "ratis-netty", () -> RaftAppends.inThisJvm(RaftRpc.NETTY, outstanding, CALL));
    add(work, VERBENA, "ratis", () -> RaftAppends.inThisJvm(RaftRpc.EMULATED, outstanding, CALL));
  }

  private void crowds() {
    crowd(
        new Workload<>(
            "idle-1000-cpu",
            "CPU of 1,000 idle connections, both ends",
            "ms/s",
            1e-6,
            false,
            CROWD_SETTLES,
            (participant, plan) -> Measures.crowdCpu(participant, CROWD, plan)));
    Workload<IdleConnections> larger =
        new Workload<>(
            "idle-4000-cpu",
            "CPU of 4,000 idle connections, both ends",
            "ms/s",
            1e-6,
            false,
            CROWD_SETTLES,
            (participant, plan) -> Measures.crowdCpu(participant, 4 * CROWD, plan));
    reactiveCrowd(larger);
    crowd(
        new Workload<>(
            "idle-1000-memory",
            "memory of each of 1,000 idle connections, both ends, heap and direct, no kernel's",
            "KiB",
            1.0 / 1024,
            false,
            CROWD_SETTLES,
            (participant, plan) -> Measures.crowdMemory(participant, CROWD, plan)));
    crowd(
        new Workload<>(
            "idle-1000-heap",
            "of that, on the heap",
            "KiB",
            1.0 / 1024,
            false,
            CROWD_SETTLES,
            (participant, plan) -> Measures.crowdHeap(participant, CROWD, plan)));
  }

  private void crowd(Workload<IdleConnections> work) {
    add(work, PEER, "netty-nio", () -> new NettyIdleConnections(NettyKind.NIO, SMALL));
    add(work, PEER, "netty-epoll", () -> new NettyIdleConnections(NettyKind.EPOLL, SMALL));
    add(work, VERBENA, "netty", () -> new NettyIdleConnections(NettyKind.RDMA, SMALL));
    reactiveCrowd(work);
  }

  /** Adds a case without keep-alive and one in which each end sends a keep-alive per second. */
  private void reactiveCrowd(Workload<IdleConnections> work) {
    add(
        work,
        VERBENA,
        "reactive-0s",
        () -> ReactiveIdleConnections.inThisJvm(SMALL, Duration.ZERO));
    add(work, VERBENA, "reactive-1s", () -> ReactiveIdleConnections.inThisJvm(SMALL, FREQUENT));
  }

  private void scales() {
    for (int connections = 1; connections <= 10 * CROWD; connections *= 10) {
      scale(
          "setup",
          connections,
          "setting up connections, each with an echo; (min .. max) of tenths",
          "thousand/s",
          1e-3,
          true,
          Measures::setUp);
      scale(
          "memory",
          connections,
          "memory of an idle connection, both ends, heap and direct",
          "KiB",
          1.0 / 1024,
          false,
          Measures::crowdMemory);
      scale(
          "cpu",
          connections,
          "CPU of idle connections, both ends, over one keep-alive",
          "ms/s",
          1e-6,
          false,
          (participant, of, plan) -> Measures.crowdCpu(participant, of, KEEP_ALIVE, plan));
      scale(
          "echo",
          connections,
          "64 B round trip on one of the connections, asleep, p50 and p99.9",
          "us",
          1e-3,
          false,
          Measures::crowdEcho);
      scale(
          "echoes",
          connections,
          "64 B round trip, each connection has one a second, p50 and p99.9",
          "us",
          1e-3,
          false,
          Measures::crowdEchoes);
      scale(
          "busy",
          connections,
          "messages of 64 B to and fro, all connections at once",
          "M/s",
          1e-6,
          true,
          Measures::crowdRate);
    }
  }

  private void scale(
      String what,
      int connections,
      String title,
      String unit,
      double scale,
      boolean higherIsBetter,
      CrowdMeasure measure) {
    Workload<IdleConnections> work =
        new Workload<>(
            "scale-" + what + "-" + connections,
            title + ": " + connections,
            unit,
            scale,
            higherIsBetter,
            what.equals("cpu") ? KEEP_ALIVE : CROWD_SETTLES,
            (participant, plan) -> measure.take(participant, connections, plan));
    if (connections <= MOST_SOCKETS) {
      add(work, PEER, "netty-nio", () -> new NettyIdleConnections(NettyKind.NIO, SMALL));
    }
    add(work, VERBENA, "netty", () -> new NettyIdleConnections(NettyKind.RDMA, SMALL));
    add(work, VERBENA, "reactive", () -> ReactiveIdleConnections.inThisJvm(SMALL));
  }

  private interface CrowdMeasure {
    Measurement take(IdleConnections participant, int connections, Plan plan) throws Exception;
  }

  /** Adds the workloads of a program's first seconds, with default options. */
  private void starts() {
    for (int i = 1; i < START.size(); i++) {
      Duration from = START.get(i - 1);
      Duration to = START.get(i);
      Workload<PingPong> echo =
          StartWorkloads.echo("start-echo", "in a new JVM", Duration.ZERO, SMALL, from, to);
      add(echo, PEER, "netty-nio", () -> new NettyPingPong(NettyKind.NIO, SMALL));
      add(echo, PEER, "netty-epoll", () -> new NettyPingPong(NettyKind.EPOLL, SMALL));
      add(echo, VERBENA, "netty", () -> new NettyPingPong(NettyKind.RDMA_DEFAULT, SMALL));
      Workload<UnaryCalls> calls =
          StartWorkloads.calls("start-grpc", "in a new JVM", Duration.ZERO, from, to);
      add(calls, PEER, "grpc-nio", () -> GrpcNetty.inThisJvm(NettyKind.NIO, 1, CALL));
      add(calls, PEER, "grpc-epoll", () -> GrpcNetty.inThisJvm(NettyKind.EPOLL, 1, CALL));
      add(calls, VERBENA, "grpc", () -> GrpcNetty.inThisJvm(NettyKind.RDMA_DEFAULT, 1, CALL));
    }
  }

  /** Returns options tuned for the work, as the peers' are: a message of this size is one SEND. */
  private static RdmaOptions eager(int size) {
    return RdmaOptions.builder().eagerSize(size).receiveDepth(32).window(64).build();
  }

  private <P extends Participant> void add(
      Workload<P> work, Role role, String participant, BenchCase.Opening<P> opening) {
    cases.add(work, role, participant, opening);
  }
}
