// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.testing;

import io.verbena.RdmaConnection;
import io.verbena.RdmaOptions;
import io.verbena.RdmaServer;
import io.verbena.RdmaTransport;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import reactor.core.publisher.Mono;

/** A JVM that listens and prints its address, or connects and prints the medium; then it idles. */
public final class OtherProcess implements AutoCloseable {
  /** The text that precedes the medium of its connection in its output. */
  public static final String CONNECTED = "connected by ";

  private static final String LISTEN = "listen";
  private static final String CONNECT = "connect";

  private final Process process;
  private final BufferedReader out;

  private OtherProcess(String verb, URI address) throws IOException {
    List<String> line = new ArrayList<>();
    line.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    line.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
    line.add("-Dverbena.test.patience=" + Integer.getInteger("verbena.test.patience", 1));
    line.addAll(List.of("-cp", System.getProperty("java.class.path")));
    line.addAll(List.of(OtherProcess.class.getName(), verb, address.toString()));
    process = new ProcessBuilder(line).redirectError(Redirect.INHERIT).start();
    out = process.inputReader(StandardCharsets.UTF_8);
  }

  /** Starts a process that listens; its {@link #line} is the server's address. */
  public static OtherProcess listening(URI address) throws IOException {
    return new OtherProcess(LISTEN, address);
  }

  /** Starts a process that connects; its {@link #line} begins with {@link #CONNECTED}. */
  public static OtherProcess connecting(URI address) throws IOException {
    return new OtherProcess(CONNECT, address);
  }

  /** Returns options with which a dead peer is detected soon. */
  public static RdmaOptions options() {
    return Ends.options().keepAlive(Duration.ofMillis(200)).build();
  }

  /** Returns the next line of its output. */
  public String line() throws IOException {
    String line = out.readLine();
    if (line == null) {
      throw new IOException("the other process has ended; its error is above");
    }
    return line;
  }

  /** Kills the process with SIGKILL. */
  public void kill() {
    process.destroyForcibly().onExit().join();
  }

  @Override
  public void close() {
    kill();
  }

  /** Runs in the other JVM, which ends with its input unless it is killed before. */
  public static void main(String[] arguments) throws IOException {
    RdmaTransport transport = RdmaTransport.create(options());
    URI address = URI.create(arguments[1]);
    if (arguments[0].equals(LISTEN)) {
      RdmaServer server =
          transport.bind(address, c -> Mono.never()).blockOptional(Ends.LIMIT).orElseThrow();
      System.out.println(server.address());
    } else {
      RdmaConnection connection =
          transport.connect(address).blockOptional(Ends.LIMIT).orElseThrow();
      System.out.println(CONNECTED + connection.medium());
    }
    int end = System.in.read();
    System.exit(end < 0 ? 0 : 1);
  }
}
