// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.platform.commons.annotation.Testable;
import org.junit.platform.commons.support.AnnotationSupport;

/** Checks that {@code docs/tck.md} names exactly the tests of the TCK. */
class RulesTest {
  private static final Path PAGE = Path.of("..", "..", "docs", "tck.md");
  private static final Pattern NAME = Pattern.compile("\\b([A-Z]\\w+)\\.([a-z]\\w+|\\*)");
  private static final String ALL = "*";

  @Test
  void eachRuleNamesATestThatExists() throws IOException {
    Set<String> tests = tests();
    List<String> wrong = new ArrayList<>();
    for (String row : rows()) {
      List<String> named = named(row);
      if (named.isEmpty()) {
        wrong.add("no test: " + row);
      }
      for (String test : named) {
        boolean exists =
            test.endsWith(ALL)
                ? tests.stream().anyMatch(one -> one.startsWith(area(test)))
                : tests.contains(test);
        if (!exists) {
          wrong.add("no such test: " + test);
        }
      }
    }

    assertThat(wrong).isEmpty();
  }

  @Test
  void eachTestBelongsToARule() throws IOException {
    Set<String> left = new TreeSet<>(tests());
    for (String row : rows()) {
      for (String test : named(row)) {
        if (test.endsWith(ALL)) {
          left.removeIf(one -> one.startsWith(area(test)));
        } else {
          left.remove(test);
        }
      }
    }

    assertThat(left).as("tests that docs/tck.md does not name").isEmpty();
  }

  private static String area(String allOfIt) {
    return allOfIt.substring(0, allOfIt.length() - ALL.length());
  }

  /** Returns the rows of the tables in the page, without their headings. */
  private static List<String> rows() throws IOException {
    List<String> rows =
        Files.readAllLines(PAGE).stream()
            .filter(line -> line.startsWith("| "))
            .filter(line -> !line.startsWith("| ---"))
            .filter(line -> !line.startsWith("| rule ") && !line.startsWith("| status "))
            .toList();
    assertThat(rows).hasSizeGreaterThan(30);
    return rows;
  }

  private static List<String> named(String row) {
    List<String> names = new ArrayList<>();
    Matcher matcher = NAME.matcher(row);
    while (matcher.find()) {
      names.add(matcher.group(1) + "." + matcher.group(2));
    }
    return names;
  }

  /** Returns all tests of the TCK, as area and method. */
  private static Set<String> tests() {
    Set<String> tests = new TreeSet<>();
    for (Class<?> area : VerbsTck.class.getDeclaredClasses()) {
      for (Class<?> owner = area;
          owner != VerbsTests.class && owner != null;
          owner = owner.getSuperclass()) {
        for (Method method : owner.getDeclaredMethods()) {
          if (AnnotationSupport.isAnnotated(method, Testable.class)) {
            tests.add(area.getSimpleName() + "." + method.getName());
          }
        }
      }
    }
    assertThat(tests).hasSizeGreaterThan(300);
    return tests;
  }
}
