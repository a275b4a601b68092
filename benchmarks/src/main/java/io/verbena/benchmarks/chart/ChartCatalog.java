// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.chart;

import io.verbena.benchmarks.chart.Chart.Group;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** All charts, and the names of participants in them. */
final class ChartCatalog {
  private static final String LOWER = " (lower is better)";
  private static final String HIGHER = " (higher is better)";
  private static final List<String> TRANSPORTS =
      List.of(
          "line",
          "aeron",
          "aeron-invoker",
          "aeron-backoff",
          "netty-local",
          "netty-nio",
          "memcpy",
          "verbs",
          "reactive",
          "reactive-eager");
  private static final List<String> NETTY =
      List.of("netty", "netty-local", "netty-unix", "netty-epoll", "netty-nio");

  private static final Map<String, String> LABELS =
      Map.ofEntries(
          Map.entry("line", "cache line to and fro"),
          Map.entry("aeron", "Aeron IPC"),
          Map.entry("aeron-invoker", "Aeron IPC, invoker"),
          Map.entry("aeron-backoff", "Aeron IPC, back-off"),
          Map.entry("aeron-udp", "Aeron UDP"),
          Map.entry("netty-local", "Netty local"),
          Map.entry("netty-unix", "Unix socket"),
          Map.entry("netty-epoll", "epoll"),
          Map.entry("netty-nio", "Netty NIO"),
          Map.entry("netty", "Verbena, Netty channel"),
          Map.entry("memcpy", "memcpy, one thread"),
          Map.entry("mono", "Verbena, Mono"),
          Map.entry("mono-16", "Verbena, Mono, 16 at once"),
          Map.entry("verbs", "Verbena, verbs"),
          Map.entry("reactive", "Verbena, Flux to Flux"),
          Map.entry("reactive-eager", "Verbena, Flux to Flux, eager"),
          Map.entry("in-process", "in process"),
          Map.entry("grpc", "Verbena"),
          Map.entry("grpc-unix", "Unix socket"),
          Map.entry("grpc-epoll", "epoll"),
          Map.entry("grpc-nio", "NIO"),
          Map.entry("rsocket", "Verbena"),
          Map.entry("local", "RSocket local"),
          Map.entry("tcp", "TCP"),
          Map.entry("tcp-nio", "TCP, NIO"),
          Map.entry("tcp-epoll", "TCP, epoll"),
          Map.entry("udp", "bare UDP sockets"),
          Map.entry("roce", "Verbena, roce://"),
          Map.entry("roce-two-hosts", "roce://, as if on two hosts"));

  private ChartCatalog() {}

  static List<Chart> charts() {
    return List.of(
        new Chart(
            "read-throughput",
            "READ from a peer's memory in one JVM, by size",
            "% of memcpy" + HIGHER,
            List.of(
                new Group("read-4k", "4 KiB"),
                new Group("read-64k", "64 KiB"),
                new Group("read-1m", "1 MiB")),
            List.of("verbs", "mono"),
            true),
        chart(
            "round-trip",
            "Round trip of 64 bytes in one JVM, both ends busy, p50",
            "us" + LOWER,
            TRANSPORTS,
            new Group("ping-busy", "")),
        chart(
            "round-trip-asleep",
            "Round trip of 64 bytes in one JVM, both ends asleep between messages, p50",
            "us" + LOWER,
            TRANSPORTS,
            new Group("ping-asleep", "")),
        chart(
            "small-messages",
            "Messages of 64 bytes one way in one JVM",
            "million/s" + HIGHER,
            TRANSPORTS,
            new Group("stream-64", "")),
        chart(
            "large-messages",
            "Messages of 64 KiB one way in one JVM, contents checked",
            "GB/s" + HIGHER,
            TRANSPORTS,
            new Group("stream-64k", "")),
        chart(
            "netty-round-trip",
            "Echo of 64 bytes over Netty channels, p50",
            "us" + LOWER,
            NETTY,
            new Group("ping-busy", "busy"),
            new Group("ping-asleep", "asleep between messages")),
        chart(
            "netty-large-messages",
            "64 KiB one way over Netty channels",
            "GB/s" + HIGHER,
            NETTY,
            new Group("stream-64k-busy", "busy"),
            new Group("stream-64k", "asleep")),
        chart(
            "grpc-calls",
            "gRPC, unary calls of 1 KiB",
            "thousand/s" + HIGHER,
            List.of(),
            new Group("grpc-1-asleep", "one at a time, asleep"),
            new Group("grpc-1-busy", "one at a time, busy"),
            new Group("grpc-64-asleep", "64 at once, asleep"),
            new Group("grpc-64-busy", "64 at once, busy")),
        chart(
            "grpc-cpu",
            "gRPC, CPU of a unary call of 1 KiB, both ends",
            "us" + LOWER,
            List.of(),
            new Group("grpc-1-cpu", "one at a time"),
            new Group("grpc-64-cpu", "64 at once")),
        chart(
            "rsocket-calls",
            "RSocket, request-response of 64 bytes",
            "thousand/s" + HIGHER,
            List.of(),
            new Group("rsocket-1-busy", "one at a time, busy"),
            new Group("rsocket-64-busy", "64 at once, busy"),
            new Group("rsocket-1-asleep", "one at a time, asleep"),
            new Group("rsocket-64-asleep", "64 at once, asleep")),
        chart(
            "rsocket-stream",
            "RSocket, a stream of 64-byte items",
            "million/s" + HIGHER,
            List.of(),
            new Group("rsocket-stream-busy", "busy"),
            new Group("rsocket-stream-asleep", "asleep")),
        chart(
            "process-round-trip",
            "Round trip of 64 bytes between two processes, p50",
            "us" + LOWER,
            List.of(),
            new Group("roce-ping", "")),
        chart(
            "process-throughput",
            "64 KiB between two processes, packets of 4096 bytes",
            "Gbit/s" + HIGHER,
            List.of(),
            new Group("roce-write-64k", "")),
        scale("setup", "Setting up connections, by how many there are", "thousand/s" + HIGHER),
        scale("memory", "Memory of an idle connection, both ends", "KiB" + LOWER),
        scale("cpu", "CPU of idle connections, both ends", "ms/s" + LOWER),
        scale("echo", "Round trip of 64 bytes on one of many connections, p50", "us" + LOWER),
        scale(
            "echoes",
            "Round trip of 64 bytes, each connection has one a second, p50",
            "us" + LOWER),
        scale("busy", "Messages of 64 bytes to and fro on all connections at once", "M/s" + HIGHER),
        start("echo", "Echo of 64 bytes over Netty channels"),
        start("grpc", "gRPC, a unary call of 1 KiB at a time"));
  }

  private static Chart start(String what, String title) {
    return chart(
        "start-" + what,
        title + ", from a cold start, by milliseconds since the first",
        "thousand/s" + HIGHER,
        List.of(),
        new Group("start-" + what + "-250", "0 to 250"),
        new Group("start-" + what + "-500", "250 to 500"),
        new Group("start-" + what + "-1000", "500 to 1000"),
        new Group("start-" + what + "-2000", "1000 to 2000"),
        new Group("start-" + what + "-5000", "2000 to 5000"));
  }

  private static Chart scale(String what, String title, String axis) {
    return chart(
        "scale-" + what,
        title,
        axis,
        List.of(),
        Stream.of("1", "10", "100", "1000", "10000")
            .map(each -> new Group("scale-" + what + "-" + each, each))
            .toArray(Group[]::new));
  }

  private static Chart chart(
      String id, String title, String axis, List<String> participants, Group... groups) {
    return new Chart(id, title, axis, List.of(groups), participants, false);
  }

  /** Returns the human-readable name of a participant. */
  static String label(String participant) {
    return LABELS.getOrDefault(participant, participant);
  }
}
