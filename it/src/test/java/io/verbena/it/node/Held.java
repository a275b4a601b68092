// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.verbena.it.Program;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The numbers of objects of the RDMA devices, of all processes and of the kernel's own connections,
 * as {@code rdma resource show} counts them, and the number of open file descriptors of this
 * process.
 *
 * @param counts per device and kind of object, and of descriptors
 */
public record Held(Map<String, Integer> counts) {
  private static final Pattern COUNT = Pattern.compile("(\\w+) (\\d+)");

  /** Returns the current numbers. */
  public static Held now() throws IOException, InterruptedException {
    var counts = new TreeMap<String, Integer>();
    // 0: rxe0: pd 1 cq 1 qp 1 cm_id 0 mr 0 ctx 0 srq 0
    Program.run("rdma", "resource", "show")
        .lines()
        .map(line -> line.split(": ", 3))
        .forEach(
            parts ->
                COUNT
                    .matcher(parts[2])
                    .results()
                    .forEach(
                        count ->
                            counts.put(
                                parts[1] + " " + count.group(1),
                                Integer.parseInt(count.group(2)))));
    assertThat(counts).as("counts of rdma resource show").containsKey("rxe0 mr");
    try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
      counts.put("file descriptors", (int) open.filter(Held::isOfProgram).count());
    }
    return new Held(counts);
  }

  /**
   * Returns whether a descriptor is not of a jar: the JVM opens jars on demand and keeps them open.
   */
  private static boolean isOfProgram(Path descriptor) {
    try {
      return !Files.readSymbolicLink(descriptor).toString().endsWith(".jar");
    } catch (IOException gone) {
      return false;
    }
  }

  /**
   * Waits until the numbers are no higher than these: objects of killed processes disappear later.
   */
  public void awaitAgain() {
    await("resources as before")
        .atMost(Duration.ofSeconds(30))
        .pollInSameThread()
        .untilAsserted(() -> assertThat(moreThanBefore()).isEmpty());
  }

  private Map<String, String> moreThanBefore() throws IOException, InterruptedException {
    var more = new TreeMap<String, String>();
    now()
        .counts()
        .forEach(
            (what, count) -> {
              int before = counts.getOrDefault(what, 0);
              if (count > before) {
                more.put(what, count + " (before: " + before + ")");
              }
            });
    return more;
  }
}
