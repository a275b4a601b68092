// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class PlatformTest {
  @Test
  void hasTheNamesOfTheCompilerForThoseOfTheJvm() {
    assertThat(Platform.of("Linux", "amd64")).hasToString("linux-x86_64");
    assertThat(Platform.of("Linux", "aarch64")).hasToString("linux-aarch64");
    assertThat(Platform.of("Linux", "riscv64")).hasToString("linux-riscv64");
    assertThat(Platform.of("Windows 11", "amd64")).hasToString("windows-x86_64");
  }

  @Test
  void namesTheFolderOfItsLibraries() {
    assertThat(Platform.of("Linux", "amd64").resource("libdisni.so"))
        .isEqualTo("io/verbena/disni/native/linux-x86_64/libdisni.so");
  }
}
