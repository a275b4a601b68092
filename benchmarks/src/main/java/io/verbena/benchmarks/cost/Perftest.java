// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.cost;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/** Runs the jobs with perftest's programs: the server on one node, the client on the other. */
final class Perftest {
  private static final int TYPICAL = 4;
  private static final int AVERAGE = 3;
  private static final String LISTENING = "0A";

  private final ConnectionAddress address;

  Perftest(ConnectionAddress address) {
    this.address = address;
  }

  /** Returns the median of half a round trip in microseconds. */
  double roundTrips(int rounds) throws IOException, InterruptedException {
    return run(
        Job.PING_PONG,
        TYPICAL,
        "ib_send_lat",
        "-s",
        Integer.toString(Job.MESSAGE),
        "-n",
        Integer.toString(rounds));
  }

  /** Returns the median of a READ in microseconds. */
  double reads(int rounds) throws IOException, InterruptedException {
    return run(
        Job.READ,
        TYPICAL,
        "ib_read_lat",
        "-s",
        Integer.toString(Job.MESSAGE),
        "-n",
        Integer.toString(rounds));
  }

  /** Returns MiB per second. */
  double writes(int count) throws IOException, InterruptedException {
    return run(
        Job.WRITE,
        AVERAGE,
        "ib_write_bw",
        "-s",
        Integer.toString(Job.BLOCK),
        "-n",
        Integer.toString(count),
        "-t",
        Integer.toString(Job.DEPTH),
        "-Q",
        "1");
  }

  /** Runs a program and returns a column of its line of results. */
  private double run(Job job, int column, String... program)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(program));
    // -F: no warning about the CPU frequency, which the emulator determines.
    command.addAll(List.of("-F", "-p", Integer.toString(address.port())));
    Path log = Files.createTempFile("perftest", ".log");
    Process server = start(Cpu.FAR.pin(job), command, log, "-d", "rxe1");
    try {
      awaitListener(server, log);
      Path clientLog = Files.createTempFile("perftest", ".log");
      Process client = start(Cpu.NEAR.pin(job), command, clientLog, "-d", "rxe0", address.far());
      try {
        end(client, clientLog);
        end(server, log);
        return figure(clientLog, column);
      } finally {
        client.destroyForcibly();
      }
    } finally {
      server.destroyForcibly();
    }
  }

  private static Process start(List<String> pin, List<String> command, Path log, String... more)
      throws IOException {
    List<String> whole = new ArrayList<>(pin);
    whole.addAll(command);
    whole.addAll(List.of(more));
    return new ProcessBuilder(whole).redirectErrorStream(true).redirectOutput(log.toFile()).start();
  }

  /** Waits by reading /proc, as the server would take a test connection for its client. */
  private void awaitListener(Process server, Path log) throws IOException, InterruptedException {
    String port = String.format(Locale.ROOT, ":%04X", address.port());
    long end = System.nanoTime() + Limits.CONNECT_NANOS;
    while (!isListening(port, "/proc/net/tcp") && !isListening(port, "/proc/net/tcp6")) {
      if (System.nanoTime() - end > 0 || server.waitFor(20, TimeUnit.MILLISECONDS)) {
        throw new IOException("perftest does not listen:\n" + Files.readString(log));
      }
    }
  }

  private static boolean isListening(String port, String table) throws IOException {
    for (String line : Files.readAllLines(Path.of(table), StandardCharsets.US_ASCII)) {
      String[] fields = line.strip().split(" +", -1);
      if (fields[1].endsWith(port) && fields[3].equals(LISTENING)) {
        return true;
      }
    }
    return false;
  }

  private static void end(Process process, Path log) throws IOException, InterruptedException {
    if (!process.waitFor(Limits.JOB.toMillis(), TimeUnit.MILLISECONDS)) {
      throw new IOException("perftest hangs:\n" + Files.readString(log));
    }
    if (process.exitValue() != 0) {
      throw new IOException("perftest: exit " + process.exitValue() + "\n" + Files.readString(log));
    }
  }

  /** Returns a column of the line below the titles, which begin with {@code #bytes}. */
  private static double figure(Path log, int column) throws IOException {
    List<String> lines = Files.readAllLines(log);
    for (int i = 0; i + 1 < lines.size(); i++) {
      if (lines.get(i).strip().startsWith("#bytes")) {
        return Double.parseDouble(lines.get(i + 1).strip().split("\\s+", -1)[column]);
      }
    }
    throw new IOException("perftest printed no figures:\n" + Files.readString(log));
  }
}
