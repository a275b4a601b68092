// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.guest;

import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The command that starts a guest which runs tests with the JVM and class path of this one.
 *
 * @param script {@code bin/soft-roce}
 * @param environment of the script, beyond this process's
 */
record GuestCommand(Path script, Map<String, String> environment) {
  /**
   * In a guest the best compiler costs more than it earns within a test's life; and the JVM's own
   * counters read the clock at each class and at each call of its compiler, a system call there.
   */
  private static final List<String> JVM_ARGUMENTS =
      List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto", "-XX:-UsePerfData");

  /** The script of the repository that this process works in. */
  static GuestCommand ofThisJvm() {
    return new GuestCommand(findScript(Path.of("").toAbsolutePath()), Map.of());
  }

  private static Path findScript(Path from) {
    for (Path folder = from; folder != null; folder = folder.getParent()) {
      Path script = folder.resolve("bin/soft-roce");
      if (Files.isExecutable(script)) {
        return script;
      }
    }
    // It is an error only where a guest is to be started: an engine that throws here spoils every
    // other test.
    return from.resolve("bin/soft-roce");
  }

  /**
   * The process, not yet started.
   *
   * @param results the folder that the guest shares with the host
   */
  ProcessBuilder process(GuestKind kind, int timeoutSeconds, Path results) {
    var line = new ArrayList<String>();
    line.add(script.toString());
    line.addAll(List.of("--nodes", Integer.toString(kind.nodes())));
    line.addAll(List.of("--devices", kind.devices().option()));
    if (kind.machine() != GuestMachine.ANY) {
      line.addAll(List.of("--on", kind.machine().option()));
    }
    line.addAll(List.of("--timeout", Integer.toString(timeoutSeconds)));
    line.addAll(List.of("--memory", "4096"));
    line.addAll(List.of("--results", results.toString()));
    line.addAll(List.of("--parent", Long.toString(ProcessHandle.current().pid())));
    line.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    for (String each : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
      // Agents talk to programs on the host.
      if (!each.startsWith("-agentlib:") && !each.startsWith("-javaagent:")) {
        line.add(each);
      }
    }
    line.addAll(JVM_ARGUMENTS);
    line.add("-cp");
    // Surefire's own class path is a jar that names the rest; this property has the real one.
    line.add(System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")));
    line.add(GuestMain.class.getName());
    var process = new ProcessBuilder(line);
    process.environment().putAll(environment);
    return process;
  }
}
