// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.guest.packaged;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class Packaged {
  @Test
  void passesInTheGuest() throws IOException {
    assertThat(Files.readString(Path.of("/proc/sys/kernel/hostname"))).startsWith("verbena-guest");
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void isParameterized(int number) {
    assertThat(number).isNotEqualTo(2);
  }

  @Test
  @Disabled("not yet")
  void isSkipped() {}
}
