// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.containers;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * A Docker daemon of this JVM's own, with its data, socket, network and processes apart from any
 * other. It is started once, when it is first asked for, and ends with this JVM, however that ends:
 * it lives as long as a pipe from here is open. A second later nothing of it is left.
 *
 * <p>Its containers reach each other and nothing else; ports that they publish cannot be reached
 * from here. Threads: any.
 */
final class OwnDocker {
  private static final String SCRIPT = "own-docker.sh";
  private static final String READY = "ready ";

  /** The script gives up sooner, and says why. */
  private static final int START_LIMIT_SECONDS = 90;

  private static @Nullable OwnDocker running;
  private static @Nullable String whyNot;

  /** The script; held on to, as its end of a pipe keeps the daemon alive. */
  private final Process process;

  private final Path socket;

  private OwnDocker(Process process, Path socket) {
    this.process = process;
    this.socket = socket;
  }

  /**
   * The daemon's socket.
   *
   * @throws IOException if no daemon can be started here; the message says why
   */
  static synchronized Path socket() throws IOException {
    if (whyNot != null) {
      throw new IOException(whyNot);
    }
    OwnDocker docker = running;
    if (docker == null) {
      try {
        docker = start();
      } catch (IOException e) {
        whyNot = String.valueOf(e.getMessage());
        throw e;
      }
      running = docker;
    }
    if (!docker.process.isAlive()) {
      throw new IOException("the Docker daemon of this JVM has ended");
    }
    return docker.socket;
  }

  /** Returns why no daemon could be started, or null if that was not tried, or worked. */
  static synchronized @Nullable String whyNot() {
    return whyNot;
  }

  private static OwnDocker start() throws IOException {
    Process process = new ProcessBuilder("bash", "-c", script(), "own-docker").start();
    // Its ends are read by threads, as only so a limit can be kept.
    CompletableFuture<String> errors =
        CompletableFuture.supplyAsync(() -> lastLine(process), inAThread());
    CompletableFuture<@Nullable String> first =
        CompletableFuture.supplyAsync(() -> firstLine(process), inAThread());
    try {
      String line = first.get(START_LIMIT_SECONDS, TimeUnit.SECONDS);
      if (line != null && line.startsWith(READY)) {
        return new OwnDocker(process, Path.of(line.substring(READY.length())));
      }
      throw new IOException(errors.get(START_LIMIT_SECONDS, TimeUnit.SECONDS));
    } catch (ExecutionException | TimeoutException e) {
      process.destroy();
      throw new IOException("no Docker daemon within " + START_LIMIT_SECONDS + " s", e);
    } catch (InterruptedException e) {
      process.destroy();
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while a Docker daemon started", e);
    }
  }

  /** The common pool may have one thread only, and both ends are read at once. */
  private static Executor inAThread() {
    return task -> {
      Thread thread = new Thread(task, "own-docker-reader");
      thread.setDaemon(true);
      thread.start();
    };
  }

  private static String script() throws IOException {
    try (InputStream in = OwnDocker.class.getResourceAsStream(SCRIPT)) {
      if (in == null) {
        throw new IOException(SCRIPT + ": not on the class path");
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private static @Nullable String firstLine(Process process) {
    try {
      return process.inputReader().readLine();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String lastLine(Process process) {
    try (var reader =
        new BufferedReader(
            new InputStreamReader(process.getErrorStream(), Charset.defaultCharset()))) {
      return reader.lines().reduce((before, line) -> line).orElse("no reason given");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
