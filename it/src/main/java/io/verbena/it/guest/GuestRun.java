// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.guest;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.platform.engine.ConfigurationParameters;
import org.junit.platform.engine.EngineExecutionListener;
import org.junit.platform.engine.TestDescriptor;

/** One guest from boot to end: the tests of all classes that ask for such a one. */
final class GuestRun {
  /** Configuration parameter: the folder for what guests write; a folder per guest in it. */
  static final String RESULTS = "verbena.guest.results";

  /** Configuration parameter: how long a guest may take, in seconds. */
  static final String TIMEOUT = "verbena.guest.timeout";

  private static final int CANNOT_RUN = 77;
  private static final int POLL_MILLIS = 50;
  private static final int KEPT_LINES = 200;

  private final GuestCommand command;
  private final GuestKind kind;
  private final List<TestDescriptor> classes;
  private final ConfigurationParameters parameters;
  private final EventReplay replay;
  private final Deque<String> lastErrors = new ArrayDeque<>();

  GuestRun(
      GuestCommand command,
      GuestKind kind,
      List<TestDescriptor> classes,
      ConfigurationParameters parameters,
      EngineExecutionListener listener) {
    this.command = command;
    this.kind = kind;
    this.classes = classes;
    this.parameters = parameters;
    this.replay = new EventReplay(classes, listener);
  }

  /** Runs the tests and reports each; returns what the guest's engine failed with, or null. */
  @Nullable Throwable execute() {
    try {
      run();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      replay.failRest("interrupted while the guest ran");
    } catch (IOException | RuntimeException e) {
      replay.failRest("the guest cannot be talked to: " + e);
    }
    return replay.engineFailure();
  }

  /** Skips the tests without a guest. */
  void skip(String reason) {
    replay.leaveOut();
    replay.skipRest(reason);
  }

  private void run() throws IOException, InterruptedException {
    Path results = Path.of(parameters.get(RESULTS).orElse("target/guest")).resolve(kind.folder());
    Files.createDirectories(results);
    Path events = results.resolve(GuestRequest.EVENTS);
    Files.write(events, new byte[0]);
    request().writeTo(results);
    replay.leaveOut();
    int timeout = parameters.get(TIMEOUT, Integer::valueOf).orElse(4500);

    Process process = command.process(kind, timeout, results.toAbsolutePath()).start();
    // The script ends with this process in any case, but sooner so.
    var stop = new Thread(process::destroy, "soft-roce-stop");
    Runtime.getRuntime().addShutdownHook(stop);
    try (InputStream in = Files.newInputStream(events)) {
      process.getOutputStream().close();
      Thread out = pump(process.getInputStream(), System.out, false);
      Thread err = pump(process.getErrorStream(), System.err, true);
      var lines = new StringBuilder();
      boolean ended;
      do {
        ended = process.waitFor(POLL_MILLIS, TimeUnit.MILLISECONDS);
        replay(in, lines);
      } while (!ended);
      out.join();
      err.join();
    } finally {
      process.destroy();
      process.waitFor();
      Runtime.getRuntime().removeShutdownHook(stop);
    }
    conclude(process.exitValue());
  }

  private void conclude(int status) {
    if (!replay.isReady() && status == CANNOT_RUN) {
      String reason = errors().isEmpty() ? "no reason given" : lastErrors.getLast();
      System.out.printf(
          "%n*** SKIPPED, NOT TESTED HERE: %d classes for the guest with %s. %s%n%n",
          classes.size(), kind.devices().option(), reason);
      replay.skipRest(reason);
    } else if (replay.engineFailure() != null) {
      replay.skipRest("the engine in the guest failed, and the run with it");
    } else if (!replay.isDone() || status != 0) {
      replay.failRest(
          "the guest ended with exit code "
              + status
              + (replay.isDone() ? " after its tests:\n" : " before its tests were done:\n")
              + errors());
    } else {
      replay.conclude();
    }
  }

  /**
   * Returns what is left to select once discovery and Surefire's filters are through: the leaves.
   */
  private GuestRequest request() {
    var tests = new ArrayList<String>();
    for (TestDescriptor each : classes) {
      each.accept(
          (TestDescriptor test) -> {
            if (test.getChildren().isEmpty() && !isLeftOut(test)) {
              tests.add(Jupiter.fromOurs(test.getUniqueId().toString()));
            }
          });
    }
    Map<String, String> passedOn = new HashMap<>();
    for (String each : parameters.keySet()) {
      parameters.get(each).ifPresent(value -> passedOn.put(each, value));
    }
    return new GuestRequest(tests, passedOn);
  }

  private static boolean isLeftOut(TestDescriptor test) {
    return (test instanceof MirroredTest mirror && mirror.whyLeftOut() != null)
        || test.getParent().map(GuestRun::isLeftOut).orElse(false);
  }

  /** Whole lines only: the guest may be in the middle of one. They are ASCII. */
  private void replay(InputStream in, StringBuilder lines) throws IOException {
    lines.append(new String(in.readAllBytes(), StandardCharsets.US_ASCII));
    int from = 0;
    for (int end = lines.indexOf("\n"); end >= 0; end = lines.indexOf("\n", from)) {
      replay.accept(GuestEvent.of(lines.substring(from, end)));
      from = end + 1;
    }
    lines.delete(0, from);
  }

  private Thread pump(InputStream from, PrintStream to, boolean keep) {
    var thread =
        new Thread(
            () -> {
              try (var reader =
                  new BufferedReader(new InputStreamReader(from, Charset.defaultCharset()))) {
                for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                  to.println(line);
                  if (keep) {
                    keep(line);
                  }
                }
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              }
            },
            "soft-roce-output");
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  private synchronized void keep(String line) {
    lastErrors.addLast(line);
    if (lastErrors.size() > KEPT_LINES) {
      lastErrors.removeFirst();
    }
  }

  private synchronized String errors() {
    return String.join("\n", lastErrors);
  }
}
