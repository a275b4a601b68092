// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests that the links, commands and Java programs of the documentation match the repository. */
class DocumentationTest {
  private static final Path ROOT = Path.of("..");
  private static final Path TOOLS = ROOT.resolve("tools/src/main/java");

  private static final String FENCE = "```";

  private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)");
  private static final Pattern HEADING = Pattern.compile("#{1,6} (.*)");
  private static final Pattern COMMAND =
      Pattern.compile("(?<![\\w/.$}])bin/([a-z][a-z.-]*[a-z])(?: ([a-z]+))?");
  private static final Pattern SUBCOMMAND = Pattern.compile("@Command\\(\\s*name = \"([a-z]+)\"");
  private static final Pattern SNIPPET = Pattern.compile("<!-- snippet: (\\S+)#(\\S+) -->");

  @ParameterizedTest
  @MethodSource("pages")
  void linksLeadToFilesAndHeadings(Path page) throws IOException {
    for (MatchResult match : matches(LINK, prose(page))) {
      String link = match.group(1);
      if (link.contains("://")) {
        continue;
      }
      String[] parts = link.split("#", 2);
      Path target = parts[0].isEmpty() ? page : page.resolveSibling(parts[0]);

      assertThat(target).as("%s: %s", page, link).exists();
      if (parts.length == 2) {
        assertThat(anchors(target)).as("%s: %s", page, link).contains(parts[1]);
      }
    }
  }

  @ParameterizedTest
  @MethodSource("pages")
  void commandsExist(Path page) throws IOException {
    for (MatchResult command : matches(COMMAND, Files.readString(page))) {
      String name = command.group(1);
      assertThat(ROOT.resolve("bin").resolve(name)).as("%s: %s", page, command.group()).exists();
      if (name.equals("verbena") && command.group(2) != null) {
        assertThat(subcommands()).as("%s: %s", page, command.group()).contains(command.group(2));
      }
    }
  }

  @ParameterizedTest
  @MethodSource("pages")
  void javaProgramsAreThoseOfTheirSources(Path page) throws IOException {
    List<String> lines = Files.readAllLines(page);
    for (int i = 1; i < lines.size(); i++) {
      if (!lines.get(i).equals(FENCE + "java")) {
        continue;
      }
      Matcher source = SNIPPET.matcher(lines.get(i - 1));
      assertThat(source.matches()).as("%s:%s names the source of a program", page, i).isTrue();
      List<String> sourceLines = Files.readAllLines(ROOT.resolve(source.group(1)));
      assertThat(between(lines.subList(i, lines.size()), FENCE + "java", FENCE))
          .as("%s: %s", page, source.group())
          .isNotEmpty()
          .isEqualTo(between(sourceLines, "// snippet: " + source.group(2), "// end"));
    }
  }

  static List<Path> pages() throws IOException {
    List<Path> pages = new ArrayList<>(files(ROOT, 1, ".md"));
    pages.addAll(files(ROOT.resolve("docs"), Integer.MAX_VALUE, ".md"));
    pages.addAll(files(ROOT.resolve("samples"), 2, ".md"));
    return pages;
  }

  private static List<Path> files(Path folder, int depth, String ending) throws IOException {
    try (Stream<Path> files = Files.walk(folder, depth)) {
      return files.filter(file -> file.toString().endsWith(ending)).sorted().toList();
    }
  }

  private static List<MatchResult> matches(Pattern pattern, String text) {
    return pattern.matcher(text).results().toList();
  }

  /** Returns a page without its code. */
  private static String prose(Path page) throws IOException {
    StringBuilder prose = new StringBuilder();
    boolean inCode = false;
    for (String line : Files.readAllLines(page)) {
      if (line.strip().startsWith(FENCE)) {
        inCode = !inCode;
      } else if (!inCode) {
        prose.append(line.replaceAll("`[^`]*`", "")).append('\n');
      }
    }
    return prose.toString();
  }

  /** Returns the anchors of a page's headings, as GitHub generates them. */
  private static Set<String> anchors(Path page) throws IOException {
    return Files.readAllLines(page).stream()
        .map(HEADING::matcher)
        .filter(Matcher::matches)
        .map(heading -> heading.group(1).toLowerCase(Locale.ROOT))
        .map(heading -> heading.replaceAll("[^\\p{L}\\p{N}_ -]", "").replace(' ', '-'))
        .collect(Collectors.toSet());
  }

  private static Set<String> subcommands() throws IOException {
    StringBuilder sources = new StringBuilder();
    for (Path source : files(TOOLS, Integer.MAX_VALUE, "Command.java")) {
      sources.append(Files.readString(source));
    }
    return matches(SUBCOMMAND, sources.toString()).stream()
        .map(command -> command.group(1))
        .collect(Collectors.toSet());
  }

  /** Returns the text between two lines, with one space for any white space. */
  private static String between(List<String> lines, String first, String last) {
    return lines.stream()
        .dropWhile(line -> !line.strip().equals(first))
        .skip(1)
        .takeWhile(line -> !line.strip().equals(last))
        .collect(Collectors.joining(" "))
        .replaceAll("\\s+", " ")
        .strip();
  }
}
