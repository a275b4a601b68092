// SPDX-License-Identifier: Apache-2.0
package io.verbena.architecture;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The modules that are published: those whose artifacts the BOM lists. */
final class Published {
  static final Path ROOT = Path.of("../..");

  private static final Pattern ARTIFACT = Pattern.compile("<artifactId>(verbena-[a-z-]+)<");
  private static final Pattern OWN_ARTIFACT =
      Pattern.compile("</parent>\\s*<artifactId>([a-z-]+)</artifactId>");

  /** The folders of the modules by artifact. */
  static final Map<String, Path> MODULES = modules();

  private Published() {}

  private static Map<String, Path> modules() {
    String bom = read(ROOT.resolve("bom/pom.xml"));
    List<String> published =
        matches(ARTIFACT, bom.substring(bom.indexOf("<dependencyManagement>")));
    Map<String, Path> modules = new TreeMap<>();
    for (Path pom : files(ROOT, 3, "pom.xml")) {
      matches(OWN_ARTIFACT, read(pom)).stream()
          .filter(published::contains)
          .forEach(artifact -> modules.put(artifact, pom.resolveSibling("")));
    }
    return modules;
  }

  /** Returns the files below a folder whose path ends so; none if the folder does not exist. */
  static List<Path> files(Path folder, int depth, String ending) {
    if (!Files.isDirectory(folder)) {
      return List.of();
    }
    try (Stream<Path> files = Files.walk(folder, depth)) {
      return files
          .filter(file -> file.toString().endsWith(ending))
          .filter(Files::isRegularFile)
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the text of the first group of each match. */
  static List<String> matches(Pattern pattern, String text) {
    return pattern.matcher(text).results().map((MatchResult match) -> match.group(1)).toList();
  }
}
