// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.disni.core.Words;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Java and C agree on the names and the order of the slots in native blocks. */
final class WordsTest {
  private static final Path HEADER = Path.of("src/main/native/extension/words.h");
  private static final Pattern ENUM = Pattern.compile("enum (\\w+)_words \\{([^}]*)}");

  @Test
  void haveTheSameNamesInTheSameOrderInJavaAndC() throws IOException {
    List<String> inJava = new ArrayList<>();
    for (Class<?> block : Words.class.getDeclaredClasses()) {
      String prefix = prefix(block);
      Arrays.stream(block.getEnumConstants()).map(slot -> prefix + slot).forEach(inJava::add);
    }

    assertThat(slotsInC()).hasSizeGreaterThan(70).containsExactlyInAnyOrderElementsOf(inJava);
    for (Class<?> block : Words.class.getDeclaredClasses()) {
      String prefix = prefix(block);
      assertThat(slotsInC().stream().filter(slot -> slot.startsWith(prefix)))
          .containsExactlyElementsOf(
              Arrays.stream(block.getEnumConstants()).map(slot -> prefix + slot).toList());
    }
  }

  /** Returns the prefix of a block's slots, as QUEUE_PAIR_ for QueuePairWords. */
  private static String prefix(Class<?> block) {
    return block
        .getSimpleName()
        .replaceAll("Words$", "")
        .replaceAll("(?<=[a-z])(?=[A-Z])", "_")
        .toUpperCase(Locale.ROOT)
        .concat("_");
  }

  private static List<String> slotsInC() throws IOException {
    List<String> slots = new ArrayList<>();
    Matcher block = ENUM.matcher(Files.readString(HEADER));
    while (block.find()) {
      Arrays.stream(block.group(2).split(",")).map(String::strip).forEach(slots::add);
    }
    return slots;
  }
}
