// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.crypto;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests key files, which have 32 to 1024 bytes. */
class SharedSecretTest {
  @TempDir Path folder;

  @ParameterizedTest
  @ValueSource(ints = {32, 33, 1024})
  void takesAllBytesOfTheFile(int length) throws IOException {
    byte[] bytes = new byte[length];
    bytes[length - 1] = 7;
    Path file = Files.write(folder.resolve("key"), bytes);

    assertThat(SharedSecret.read(file.toString()).secret()).isEqualTo(bytes);
  }

  @ParameterizedTest
  @CsvSource({"0, 0 bytes", "31, 31 bytes", "1025, more than 1024 bytes"})
  void refusesAnotherLength(int length, String found) throws IOException {
    Path file = Files.write(folder.resolve("key"), new byte[length]);

    assertThatThrownBy(() -> SharedSecret.read(file.toString()))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining(file + ": " + found)
        .hasMessageContaining("expected: a file of 32 to 1024 random bytes")
        .extracting(e -> ((VerbsException) e).error())
        .isEqualTo(VerbsError.INVALID);
  }

  @Test
  void namesAFileThatIsNotThere() {
    assertThatThrownBy(() -> SharedSecret.read(folder.resolve("none").toString()))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("none");
  }

  @Test
  void doesNotPrintItsBytes() {
    assertThat(SharedSecret.of(new byte[32])).hasToString("key");
  }
}
