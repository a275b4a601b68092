// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.containers;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The files that a JVM needs to run where there is nothing else: its own files, the shared
 * libraries that these are linked to, and the few files that a C library looks for; and {@code tc},
 * where this machine has it, for {@link OutgoingPackets}. For Linux.
 *
 * @param home the folder of the JDK or JRE
 */
record JavaRuntime(Path home) {
  private static final String HOME = "opt/java";

  /** The files that only compiling, linking or reading about Java takes. */
  private static final Set<Path> LEFT_OUT =
      Set.of(
          Path.of("demo"),
          Path.of("docs"),
          Path.of("include"),
          Path.of("jmods"),
          Path.of("legal"),
          Path.of("man"),
          Path.of("lib/ct.sym"),
          Path.of("lib/src.zip"));

  /** The libraries that draw, print and play, with half a desktop behind them. */
  private static final Pattern DESKTOP =
      Pattern.compile("lib(j?awt|font|freetype|harfbuzz|javajpeg|jsound|lcms|mlib|splash).*");

  private static final List<Path> TRAFFIC_CONTROL =
      List.of(Path.of("/sbin/tc"), Path.of("/usr/sbin/tc"));

  /** In ldd's lines, glibc's and musl's: "name => /path (0x...)" or "/path (0x...)". */
  private static final Pattern LIBRARY = Pattern.compile("\\s(/\\S+) \\(0x");

  static JavaRuntime ofThisJvm() {
    return new JavaRuntime(Path.of(System.getProperty("java.home")));
  }

  /**
   * Adds it all, so that {@code java} is on the usual path.
   *
   * @param root the prefix of all names
   * @throws IOException also where the system is another than Linux
   */
  void addTo(Archive files, String root) throws IOException {
    String system = System.getProperty("os.name");
    if (!"Linux".equals(system)) {
      throw new IOException(
          "os.name: " + system + " (expected: Linux, as containers are; else name a base image)");
    }
    files.add(root + HOME, home, JavaRuntime::isNeeded);
    files.addLink(root + "usr/bin/java", "/" + HOME + "/bin/java");
    Optional<Path> trafficControl =
        TRAFFIC_CONTROL.stream().filter(Files::isExecutable).findFirst();
    if (trafficControl.isPresent()) {
      files.add(root + "usr/sbin/tc", trafficControl.get(), path -> true);
    }
    for (Path each : libraries(trafficControl)) {
      files.add(root + each.toString().substring(1), each, path -> true);
    }
    files.addFolderForAll(root + "tmp");
    files.add(root + "etc/passwd", "root:x:0:0:root:/:/none\n");
    files.add(root + "etc/group", "root:x:0:\n");
    files.add(root + "etc/nsswitch.conf", "hosts: files dns\n");
  }

  private static boolean isNeeded(Path below) {
    return LEFT_OUT.stream().noneMatch(below::startsWith) && !isOfDesktop(below);
  }

  private static boolean isOfDesktop(Path library) {
    return DESKTOP.matcher(library.getFileName().toString()).matches();
  }

  private Set<Path> libraries(Optional<Path> trafficControl) throws IOException {
    var line = new ArrayList<String>();
    line.add("ldd");
    line.add(home.resolve("bin/java").toString());
    trafficControl.map(Path::toString).ifPresent(line::add);
    try (Stream<Path> all = Files.walk(home.resolve("lib"))) {
      all.filter(path -> path.toString().endsWith(".so") && !isOfDesktop(path))
          .map(Path::toString)
          .forEach(line::add);
    }
    Process ldd = new ProcessBuilder(line).redirectErrorStream(true).start();
    ldd.getOutputStream().close();
    var libraries = new TreeSet<Path>();
    for (String each : linesOf(ldd)) {
      Matcher matcher = LIBRARY.matcher(each);
      Path home = this.home.toAbsolutePath();
      if (matcher.find() && !Path.of(matcher.group(1)).startsWith(home)) {
        libraries.add(Path.of(matcher.group(1)));
      }
    }
    if (libraries.isEmpty()) {
      throw new IOException("ldd " + home.resolve("bin/java") + ": no library");
    }
    // A C library before 2.34 loads these when it resolves a name.
    for (Path each : List.copyOf(libraries)) {
      for (String resolver : List.of("libnss_files.so.2", "libnss_dns.so.2", "libresolv.so.2")) {
        Path beside = each.resolveSibling(resolver);
        if (Files.isRegularFile(beside)) {
          libraries.add(beside);
        }
      }
    }
    return libraries;
  }

  private static List<String> linesOf(Process process) throws IOException {
    try (var reader = process.inputReader()) {
      return reader.lines().toList();
    }
  }
}
