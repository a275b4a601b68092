// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.doctor;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.verbena.tools.Verbena;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A machine with one device of the fake rdma-core ({@code transport-disni/src/test/native}), in a
 * JVM of its own, and with files as the kernel provides them. The interface of port 1 is eth1.
 */
final class FakeMachine {
  /**
   * A relative path, as LD_PRELOAD ends a path at a blank, which the folder of a clone may have.
   */
  private static final Path DISNI = Path.of("../transport-disni");

  private static final Path LIBRARY = DISNI.resolve("target/fake-rdma-core/libfake_rdma_core.so");

  /** The output of a run, and its exit code. */
  record Diagnosis(int exitCode, String text) {}

  private final Path folder;
  private final List<String> lines;
  private boolean hidesDevice;

  /**
   * @param folder the folder for all files
   * @param profile the profile of the device
   */
  FakeMachine(Path folder, String profile) throws IOException {
    if (!Files.isRegularFile(LIBRARY)) {
      String why = LIBRARY + ": not built, for want of a C compiler or of rdma-core's headers";
      System.err.println("*** SKIPPED, NOT TESTED HERE: the doctor on RNICs. " + why);
      assumeTrue(false, why);
    }
    this.folder = folder;
    Path file = DISNI.resolve("src/test/native/fake-rdma-core/profiles").resolve(profile);
    lines = new ArrayList<>(Files.readAllLines(file));
    file("proc/self/limits", "Max locked memory         unlimited            unlimited   bytes");
    file("sys/class/net/eth1/mtu", "1500");
  }

  /** Replaces a line of the profile. */
  FakeMachine with(String line, String instead) {
    lines.set(lines.indexOf(line), instead);
    return this;
  }

  /** Removes the lines of the profile with this prefix. */
  FakeMachine without(String start) {
    lines.removeIf(line -> line.startsWith(start));
    return this;
  }

  /** Adds a file of the kernel. */
  FakeMachine file(String name, String content) throws IOException {
    Path file = folder.resolve("root").resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, content + "\n");
    return this;
  }

  /** Adds a file of the device. */
  FakeMachine deviceFile(String name, String content) throws IOException {
    return file("sys/class/infiniband/" + value("name") + "/" + name, content);
  }

  private String value(String name) {
    return lines.stream()
        .filter(line -> line.startsWith(name + " "))
        .map(line -> line.substring(name.length() + 1))
        .findFirst()
        .orElseThrow();
  }

  private void writeDevice() throws IOException {
    deviceFile("node_type", value("transport").equals("iwarp") ? "4: RNIC" : "1: CA");
    for (String line : lines) {
      String[] words = line.split(" ", -1);
      String port = "ports/" + (words.length > 1 ? words[1] : "") + "/";
      if (line.matches("port \\d state .*")) {
        deviceFile(
            port + "state",
            switch (words[3]) {
              case "active" -> "4: ACTIVE";
              case "init" -> "2: INIT";
              default -> "1: DOWN";
            });
        deviceFile(port + "rate", "100 Gb/sec (4X EDR)");
      } else if (line.matches("port \\d link .*")) {
        deviceFile(port + "link_layer", words[3].equals("ethernet") ? "Ethernet" : "InfiniBand");
      } else if (words[0].equals("gid")) {
        String type = words[3].equals("v2") ? "RoCE v2" : "IB/RoCE v1";
        deviceFile(port + "gid_attrs/types/" + words[2], type);
        deviceFile(port + "gid_attrs/ndevs/" + words[2], "eth" + words[1]);
      }
    }
  }

  /** Hides the device in sysfs, as in a container. */
  FakeMachine withoutSysfs() {
    hidesDevice = true;
    return this;
  }

  /** Runs {@code verbena doctor} with these arguments. */
  Diagnosis doctor(String... arguments) throws Exception {
    List<String> all =
        new ArrayList<>(List.of("doctor", "--root", folder.resolve("root").toString()));
    all.addAll(List.of(arguments));
    return run(all);
  }

  /** Runs {@code verbena} with these arguments. */
  Diagnosis run(List<String> arguments) throws Exception {
    if (!hidesDevice) {
      writeDevice();
    }
    Path profiles = Files.createDirectories(folder.resolve("profiles"));
    Files.write(profiles.resolve("device"), lines);
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty(
                    "surefire.test.class.path", System.getProperty("java.class.path")),
                Verbena.class.getName()));
    command.addAll(arguments);
    Path errors = folder.resolve("errors");
    ProcessBuilder builder = new ProcessBuilder(command).redirectError(errors.toFile());
    builder.environment().put("LD_PRELOAD", LIBRARY.toString());
    builder.environment().put("FAKE_RDMA_CORE", profiles.toString());
    Process process = builder.start();
    String text = new String(process.getInputStream().readAllBytes(), UTF_8);
    int exitCode = process.waitFor();
    if (text.isEmpty()) {
      throw new AssertionError("exit code " + exitCode + "\n" + Files.readString(errors));
    }
    return new Diagnosis(exitCode, text);
  }
}
