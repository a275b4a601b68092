// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The numbers in {@link Layout} equal those that {@code layout.c} asserts about the structures. */
final class LayoutTest {
  private static final Path ASSERTIONS = Path.of("src/main/native/extension/layout.c");
  private static final Pattern LINE = Pattern.compile("(?m)^LAYOUT\\((\\w+), (\\d+), ");

  @Test
  void isAssertedByTheCompilerNumberByNumber() throws IOException {
    Map<String, Integer> inJava =
        Arrays.stream(Layout.class.getDeclaredFields())
            .filter(field -> !field.isSynthetic())
            .collect(Collectors.toMap(Field::getName, LayoutTest::value));
    Map<String, Integer> inC = new TreeMap<>();
    for (MatchResult line : LINE.matcher(Files.readString(ASSERTIONS)).results().toList()) {
      inC.put(line.group(1), Integer.valueOf(line.group(2)));
    }

    assertThat(inC).hasSizeGreaterThan(30).containsExactlyInAnyOrderEntriesOf(inJava);
  }

  private static int value(Field field) {
    try {
      return field.getInt(null);
    } catch (IllegalAccessException e) {
      throw new AssertionError(e);
    }
  }
}
