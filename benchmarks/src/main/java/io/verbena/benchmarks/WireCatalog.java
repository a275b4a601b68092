// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks;

import static io.verbena.benchmarks.Role.LIMIT;
import static io.verbena.benchmarks.Role.PEER;
import static io.verbena.benchmarks.Role.VERBENA;

import io.verbena.PollMode;
import io.verbena.RdmaOptions;
import io.verbena.benchmarks.grpc.GrpcNetty;
import io.verbena.benchmarks.peers.AeronUdpPingPong;
import io.verbena.benchmarks.peers.MemcpyReads;
import io.verbena.benchmarks.peers.NettyKind;
import io.verbena.benchmarks.peers.NettyWireOneWay;
import io.verbena.benchmarks.peers.NettyWirePingPong;
import io.verbena.benchmarks.peers.TcpOneWay;
import io.verbena.benchmarks.peers.TcpPingPong;
import io.verbena.benchmarks.peers.UdpOneWay;
import io.verbena.benchmarks.peers.UdpPingPong;
import io.verbena.benchmarks.ratis.RaftAppends;
import io.verbena.benchmarks.ratis.RaftRpc;
import io.verbena.benchmarks.verbena.ReactiveIdleConnections;
import io.verbena.benchmarks.verbena.ReactiveWireOneWay;
import io.verbena.benchmarks.verbena.ReactiveWirePingPong;
import io.verbena.benchmarks.verbena.RemoteReads;
import io.verbena.benchmarks.verbena.RemoteWrites;
import io.verbena.benchmarks.verbena.WireHosts;
import io.verbena.benchmarks.verbena.WirePingPong;
import io.verbena.benchmarks.work.IdleConnections;
import io.verbena.benchmarks.work.Measures;
import io.verbena.benchmarks.work.OneSided;
import io.verbena.benchmarks.work.OneWay;
import io.verbena.benchmarks.work.Participant;
import io.verbena.benchmarks.work.PingPong;
import io.verbena.benchmarks.work.ReadLayout;
import io.verbena.benchmarks.work.UnaryCalls;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;

/** The workloads between two processes and their participants, in the order of the table. */
final class WireCatalog {
  private static final int SMALL = 64;
  private static final int LARGE = 64 << 10;
  private static final int CALL = 1 << 10;
  private static final Duration RATIS_WARMS_UP = Duration.ofSeconds(10);

  /**
   * Long, because two polling JVMs leave their JIT compilers little time on two CPUs: all code is
   * compiled after some 9 s.
   */
  private static final Duration WARMS_UP = Duration.ofSeconds(12);

  /** The limits of the intervals of a start. */
  private static final List<Duration> START =
      Stream.of(0, 500, 2000, 5000, 10_000).map(Duration::ofMillis).toList();

  private static final URI IWARP = URI.create("iwarp://127.0.0.1:0");
  private static final URI SHM = URI.create("shm://verbena-bench:0");
  private static final URI ROCE = URI.create("roce://127.83.0.1:0");
  private static final int MOST_CONNECTIONS = 10_000;
  private static final Duration CROWD_SETTLES = Duration.ofSeconds(2);
  private static final PollMode AS_IT_COMES = RdmaOptions.defaults().pollMode();

  private final CaseList cases;

  private WireCatalog(CaseList cases) {
    this.cases = cases;
  }

  static void addTo(CaseList cases) {
    WireCatalog catalog = new WireCatalog(cases);
    catalog.onSharedMemory();
    catalog.overTcp();
    catalog.overUdp();
    catalog.scales();
    catalog.raftWrites(1);
    catalog.raftWrites(128);
  }

  private void onSharedMemory() {
    String between = " between two processes, shared memory and Unix sockets";
    Workload<PingPong> busy = roundTrips("shm-ping", "64 B round trip" + between + ", busy, p50");
    add(busy, PEER, "netty-unix", () -> new NettyWirePingPong(NettyKind.UNIX_BUSY, SMALL));
    add(busy, VERBENA, "verbs", () -> new WirePingPong(SMALL, WireHosts.SHARED_MEMORY));
    add(busy, VERBENA, "reactive", () -> new ReactiveWirePingPong(SMALL, SHM, PollMode.BUSY));
    add(busy, VERBENA, "netty", () -> new NettyWirePingPong(NettyKind.SHARED_BUSY, SMALL));
    Workload<PingPong> asleep =
        roundTrips("shm-ping-asleep", "64 B round trip" + between + ", asleep, p50");
    add(asleep, PEER, "netty-unix", () -> new NettyWirePingPong(NettyKind.UNIX, SMALL));
    add(asleep, VERBENA, "reactive", () -> new ReactiveWirePingPong(SMALL, SHM, PollMode.EVENT));
    add(asleep, VERBENA, "netty", () -> new NettyWirePingPong(NettyKind.SHARED, SMALL));
    Workload<OneWay> small =
        oneWay("shm-64", "64 B messages" + between + ", busy", "M/s", 1e-6, SMALL);
    add(small, PEER, "netty-unix", () -> new NettyWireOneWay(NettyKind.UNIX_BUSY, SMALL));
    add(small, VERBENA, "verbs-write", () -> new RemoteWrites(SMALL, WireHosts.SHARED_MEMORY));
    add(small, VERBENA, "reactive", () -> new ReactiveWireOneWay(SMALL, SHM, PollMode.BUSY, false));
    add(small, VERBENA, "netty", () -> new NettyWireOneWay(NettyKind.SHARED_BUSY, SMALL));
    Workload<OneWay> large =
        oneWay("shm-64k", "64 KiB messages" + between + ", busy", "GB/s", LARGE * 1e-9, LARGE);
    add(large, PEER, "netty-unix", () -> new NettyWireOneWay(NettyKind.UNIX_BUSY, LARGE));
    add(large, VERBENA, "verbs-write", () -> new RemoteWrites(LARGE, WireHosts.SHARED_MEMORY));
    flux(large, SHM);
    add(large, VERBENA, "netty", () -> new NettyWireOneWay(NettyKind.SHARED_BUSY, LARGE));
    ReadLayout layout = ReadLayout.of(4 << 10);
    Workload<OneSided> reads =
        new Workload<>(
            "shm-read-4k",
            "one-sided READ 4 KiB of another process's memory",
            "Mop/s",
            1e-6,
            true,
            WARMS_UP,
            (participant, plan) -> Measures.reads(participant, layout, plan));
    add(reads, LIMIT, "memcpy", () -> new MemcpyReads(layout));
    add(reads, VERBENA, "verbs", () -> new RemoteReads(layout, WireHosts.SHARED_MEMORY));
    unaryCalls(
        new Workload<>(
            "shm-grpc",
            "gRPC unary 1 KiB" + between + ", one outstanding, busy, direct executors",
            "k/s",
            1e-3,
            true,
            WARMS_UP,
            Measures::calls));
    starts();
  }

  /** Adds the workloads of the first seconds of two programs, with default options. */
  private void starts() {
    String where = "between two new JVMs, shared memory and sockets";
    for (int i = 1; i < START.size(); i++) {
      Duration from = START.get(i - 1);
      Duration to = START.get(i);
      Workload<PingPong> echo =
          StartWorkloads.echo("shm-start-echo", where, WARMS_UP, SMALL, from, to);
      add(echo, PEER, "netty-nio", () -> new NettyWirePingPong(NettyKind.NIO, SMALL));
      add(echo, PEER, "netty-unix", () -> new NettyWirePingPong(NettyKind.UNIX, SMALL));
      add(echo, VERBENA, "netty", () -> new NettyWirePingPong(NettyKind.SHARED_DEFAULT, SMALL));
      Workload<UnaryCalls> calls =
          StartWorkloads.calls("shm-start-grpc", where, WARMS_UP, from, to);
      add(calls, PEER, "grpc-nio", () -> GrpcNetty.inProcesses(NettyKind.NIO, 1, CALL));
      add(calls, PEER, "grpc-unix", () -> GrpcNetty.inProcesses(NettyKind.UNIX, 1, CALL));
      add(calls, VERBENA, "grpc", () -> GrpcNetty.inProcesses(NettyKind.SHARED_DEFAULT, 1, CALL));
    }
  }

  private void unaryCalls(Workload<UnaryCalls> work) {
    add(work, PEER, "grpc-nio", () -> GrpcNetty.inProcesses(NettyKind.NIO_BUSY, 1, CALL));
    add(work, PEER, "grpc-epoll", () -> GrpcNetty.inProcesses(NettyKind.EPOLL_BUSY, 1, CALL));
    add(work, PEER, "grpc-unix", () -> GrpcNetty.inProcesses(NettyKind.UNIX_BUSY, 1, CALL));
    add(work, VERBENA, "grpc", () -> GrpcNetty.inProcesses(NettyKind.SHARED_BUSY, 1, CALL));
  }

  /** Adds cases with default options, with polling loops, and with messages of one SEND. */
  private void flux(Workload<OneWay> work, URI hca) {
    add(work, VERBENA, "reactive", () -> new ReactiveWireOneWay(LARGE, hca, AS_IT_COMES, false));
    add(
        work,
        VERBENA,
        "reactive-busy",
        () -> new ReactiveWireOneWay(LARGE, hca, PollMode.BUSY, false));
    add(
        work,
        VERBENA,
        "reactive-eager",
        () -> new ReactiveWireOneWay(LARGE, hca, AS_IT_COMES, true));
  }

  private void overTcp() {
    Workload<PingPong> echo =
        roundTrips("iwarp-ping", "64 B round trip over TCP between two processes, busy, p50");
    add(echo, LIMIT, "tcp", () -> new TcpPingPong(SMALL));
    add(echo, VERBENA, "verbs", () -> new WirePingPong(SMALL, WireHosts.TCP));
    add(echo, VERBENA, "reactive", () -> new ReactiveWirePingPong(SMALL, IWARP, PollMode.BUSY));
    add(echo, VERBENA, "verbs-locked", () -> new WirePingPong(SMALL, WireHosts.TCP_LOCKED));
    String title = "64 KiB messages over TCP between two processes";
    Workload<OneWay> busy = oneWay("iwarp-64k", title + ", busy", "GB/s", LARGE * 1e-9, LARGE);
    add(busy, LIMIT, "tcp", () -> new TcpOneWay(LARGE, true));
    add(busy, PEER, "netty-epoll", () -> new NettyWireOneWay(NettyKind.EPOLL_BUSY, LARGE));
    add(busy, VERBENA, "verbs-write", () -> new RemoteWrites(LARGE, WireHosts.TCP));
    flux(busy, IWARP);
    add(busy, VERBENA, "verbs-write-locked", () -> new RemoteWrites(LARGE, WireHosts.TCP_LOCKED));
    Workload<OneWay> cpu =
        new Workload<>(
            "iwarp-64k-cpu",
            title + ", asleep: CPU of a GB, both ends",
            "ms/GB",
            1e3 / LARGE,
            false,
            WARMS_UP,
            (participant, plan) -> Measures.messageCpu(participant, LARGE, plan));
    add(cpu, LIMIT, "tcp", () -> new TcpOneWay(LARGE, false));
    add(cpu, PEER, "netty-epoll", () -> new NettyWireOneWay(NettyKind.EPOLL, LARGE));
    add(cpu, VERBENA, "reactive", () -> new ReactiveWireOneWay(LARGE, IWARP, AS_IT_COMES, false));
    add(
        cpu,
        VERBENA,
        "reactive-event",
        () -> new ReactiveWireOneWay(LARGE, IWARP, PollMode.EVENT, false));
  }

  private void overUdp() {
    Workload<PingPong> echo =
        roundTrips("roce-ping", "64 B round trip between two processes, busy, p50");
    add(echo, LIMIT, "udp", () -> new UdpPingPong(SMALL));
    add(echo, PEER, "aeron-udp", () -> new AeronUdpPingPong(SMALL));
    add(echo, VERBENA, "roce", () -> new WirePingPong(SMALL, WireHosts.ONE));
    add(echo, VERBENA, "roce-locked", () -> new WirePingPong(SMALL, WireHosts.ONE_LOCKED));
    add(echo, VERBENA, "roce-two-hosts", () -> new WirePingPong(SMALL, WireHosts.TWO));
    Workload<OneWay> writes =
        oneWay(
            "roce-write-64k",
            "64 KiB messages between two processes in packets of 4096: RDMA WRITE, and one way",
            "Gbit/s",
            LARGE * 8e-9,
            LARGE);
    add(writes, LIMIT, "udp", () -> new UdpOneWay(LARGE));
    add(writes, VERBENA, "roce", () -> new RemoteWrites(LARGE, WireHosts.ONE));
    add(writes, VERBENA, "roce-locked", () -> new RemoteWrites(LARGE, WireHosts.ONE_LOCKED));
    add(writes, VERBENA, "roce-two-hosts", () -> new RemoteWrites(LARGE, WireHosts.TWO));
    Workload<OneWay> single =
        oneWay(
            "roce-write-64k-single",
            "64 KiB RDMA WRITE between two processes in packets of 4096, one at a time",
            "Gbit/s",
            LARGE * 8e-9,
            LARGE);
    add(single, VERBENA, "roce", () -> RemoteWrites.single(LARGE, WireHosts.ONE));
    add(single, VERBENA, "roce-locked", () -> RemoteWrites.single(LARGE, WireHosts.ONE_LOCKED));
  }

  /** Adds workloads of many connections between two processes. */
  private void scales() {
    for (int count = 1; count <= MOST_CONNECTIONS; count *= 10) {
      int connections = count;
      scale(
          new Workload<>(
              "wire-scale-setup-" + count,
              "setting up connections between two processes, each with an echo; (min .. max) of"
                  + " tenths: "
                  + count,
              "thousand/s",
              1e-3,
              true,
              CROWD_SETTLES,
              (participant, plan) -> Measures.setUp(participant, connections, plan)));
      scale(
          new Workload<>(
              "wire-scale-echo-" + count,
              "64 B round trip on one of the connections between two processes, asleep, p50 and"
                  + " p99.9: "
                  + count,
              "us",
              1e-3,
              false,
              CROWD_SETTLES,
              (participant, plan) -> Measures.crowdEcho(participant, connections, plan)));
      scale(
          new Workload<>(
              "wire-scale-busy-" + count,
              "messages of 64 B to and fro, all connections between two processes at once: "
                  + count,
              "M/s",
              1e-6,
              true,
              CROWD_SETTLES,
              (participant, plan) -> Measures.crowdRate(participant, connections, plan)));
    }
  }

  private void scale(Workload<IdleConnections> work) {
    add(work, VERBENA, "shm", () -> ReactiveIdleConnections.inProcesses(SMALL, SHM));
    add(work, VERBENA, "iwarp", () -> ReactiveIdleConnections.inProcesses(SMALL, IWARP));
    add(work, VERBENA, "roce", () -> ReactiveIdleConnections.inProcesses(SMALL, ROCE));
  }

  private void raftWrites(int outstanding) {
    String id = "ratis-processes-" + outstanding;
    String title =
        "Ratis, three server processes, writes of 1 KiB, " + outstanding + " outstanding";
    overEachRpc(
        new Workload<>(id, title, "k/s", 1e-3, true, RATIS_WARMS_UP, Measures::calls), outstanding);
    overEachRpc(
        cpu(
            id + "-leader-cpu",
            title + ": CPU of a write at the leader",
            RaftAppends::leaderCpuNanos),
        outstanding);
    overEachRpc(
        cpu(
            id + "-followers-cpu",
            title + ": CPU of a write at both followers",
            RaftAppends::followersCpuNanos),
        outstanding);
  }

  private static Workload<RaftAppends> cpu(
      String id, String title, ToLongFunction<RaftAppends> used) {
    return new Workload<>(
        id,
        title,
        "us",
        1e-3,
        false,
        RATIS_WARMS_UP,
        (participant, plan) -> Measures.otherCpu(participant, used, plan));
  }

  private void overEachRpc(Workload<RaftAppends> work, int outstanding) {
    add(work, PEER, "ratis-grpc", () -> RaftAppends.inProcesses(RaftRpc.GRPC, outstanding, CALL));
    add(work, PEER, "ratis-netty", () -> RaftAppends.inProcesses(RaftRpc.NETTY, outstanding, CALL));
    add(
        work,
        VERBENA,
        "ratis-shm",
        () -> RaftAppends.inProcesses(RaftRpc.SHARED_MEMORY, outstanding, CALL));
  }

  private static Workload<PingPong> roundTrips(String id, String title) {
    return new Workload<>(
        id,
        title,
        "us",
        1e-3,
        false,
        WARMS_UP,
        (participant, plan) -> Measures.roundTrips(participant, SMALL, plan));
  }

  private static Workload<OneWay> oneWay(
      String id, String title, String unit, double scale, int size) {
    return new Workload<>(
        id,
        title,
        unit,
        scale,
        true,
        WARMS_UP,
        (participant, plan) -> Measures.messages(participant, size, plan));
  }

  private <P extends Participant> void add(
      Workload<P> work, Role role, String participant, BenchCase.Opening<P> opening) {
    cases.add(work, role, participant, opening);
  }
}
