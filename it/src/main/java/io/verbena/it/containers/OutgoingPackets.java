// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.containers;

import com.github.dockerjava.api.DockerClient;
import com.github.dockerjava.api.async.ResultCallback;
import com.github.dockerjava.api.model.Frame;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/**
 * The treatment of the packets that leave a container by its first interface, set by {@code tc} of
 * the container's image in its network namespace.
 *
 * <p>Not by netem, which not every kernel has: packets are lost by a classifier that draws a number
 * for each, and wait for the tokens of a bucket. Threads: one at a time.
 */
record OutgoingPackets(DockerClient docker, String container) {
  /** In tc's list of all; a container that came back to its network has another one than eth0. */
  private static final Pattern INTERFACE = Pattern.compile(" dev (?!lo )(\\S+)");

  private static final int LIMIT_SECONDS = 30;
  private static final double DRAWN = 0x1p32;

  /**
   * Classic BPF: loads a random number, compares it, and returns TC_ACT_SHOT below the limit, else
   * TC_ACT_UNSPEC, with which the packet goes on.
   */
  private static final String LOSE_BELOW = "4,32 0 0 4294963256,53 0 1 %d,6 0 0 4294967295,6 0 0 2";

  /** The bucket's size: room for the largest packet of any interface. */
  private static final String BURST = "64kb";

  private static final Pattern DROPPED = Pattern.compile("dropped (\\d+)");

  /** Of the kernel about what it was built without, and of Docker about a program. */
  private static final Pattern MISSING = Pattern.compile("kind is unknown|not found");

  void lose(double percent) {
    if (!(percent >= 0 && percent <= 100)) {
      throw new IllegalArgumentException("percent: " + percent + " (expected: 0 to 100)");
    }
    long below = Math.min((long) (percent / 100 * DRAWN), (long) DRAWN - 1);
    String device = device();
    control("qdisc", "replace", "dev", device, "clsact");
    control(
        "filter",
        "replace",
        "dev",
        device,
        "egress",
        "pref",
        "1",
        "handle",
        "1",
        "bpf",
        "da",
        "bytecode",
        LOSE_BELOW.formatted(below));
  }

  void narrow(long bytesPerSecond, Duration longestWait) {
    control(
        "qdisc",
        "replace",
        "dev",
        device(),
        "root",
        "tbf",
        "burst",
        BURST,
        "rate",
        bytesPerSecond + "bps",
        "latency",
        longestWait.toNanos() / 1000 + "us");
  }

  long lost() {
    return DROPPED
        .matcher(control("-s", "qdisc", "show", "dev", device()))
        .results()
        .mapToLong(each -> Long.parseLong(each.group(1)))
        .sum();
  }

  private String device() {
    String all = control("qdisc", "show");
    return INTERFACE
        .matcher(all)
        .results()
        .findFirst()
        .orElseThrow(() -> new IllegalStateException("tc qdisc show: no interface: " + all))
        .group(1);
  }

  /** Runs {@code tc} in the container; returns its output. */
  private String control(String... arguments) {
    var line = new ArrayList<String>(List.of("tc"));
    line.addAll(List.of(arguments));
    var output = new Output();
    try (output) {
      String id =
          docker
              .execCreateCmd(container)
              .withAttachStdout(true)
              .withAttachStderr(true)
              .withCmd(line.toArray(String[]::new))
              .exec()
              .getId();
      docker.execStartCmd(id).exec(output);
      if (!output.awaitCompletion(LIMIT_SECONDS, TimeUnit.SECONDS)) {
        throw new IllegalStateException(line + ": not done within " + LIMIT_SECONDS + " s");
      }
      Long exitCode = docker.inspectExecCmd(id).exec().getExitCodeLong();
      if (exitCode == null || exitCode != 0) {
        throw failure(line + ": " + exitCode + ": " + output.text.toString().strip());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return output.text.toString();
  }

  private static RuntimeException failure(String reason) {
    return MISSING.matcher(reason).find()
        ? new UnsupportedOperationException(reason)
        : new IllegalStateException(reason);
  }

  private static final class Output extends ResultCallback.Adapter<Frame> {
    private final StringBuilder text = new StringBuilder();

    @Override
    public void onNext(Frame frame) {
      text.append(new String(frame.getPayload(), StandardCharsets.UTF_8));
    }
  }
}
