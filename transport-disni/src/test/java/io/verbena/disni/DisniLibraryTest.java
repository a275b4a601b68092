// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs DiSNI's published jar on our library, in separate JVMs. */
final class DisniLibraryTest {
  private static final String EXPORTS = "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED";

  @TempDir private Path cache;

  @Test
  void unpacksTheLibraryToTheSameFolderEachTime() {
    Natives.assumePacked();

    Path folder = DisniLibrary.install(cache);

    assertThat(DisniLibrary.install(cache)).isEqualTo(folder);
    assertThat(folder).isDirectoryContaining("glob:**/libdisni.so");
    assertThat(folder.toFile().list()).hasSize(1);
  }

  @Test
  void theStockJarRunsOnIt() throws Exception {
    Natives.assumePacked();
    Path folder = DisniLibrary.install(cache);

    assertThat(stockProgram("-Djava.library.path=" + folder, EXPORTS)).contains("channel: ");
  }

  @Test
  void oneErrorSaysWhichOptionIsMissing() throws Exception {
    assertThat(stockProgram())
        .contains("--add-exports java.base/sun.nio.ch=ALL-UNNAMED")
        .doesNotContain("channel: ");
  }

  private static String stockProgram(String... options) throws Exception {
    List<String> command = new java.util.ArrayList<>(Natives.java(options));
    command.add(StockProgram.class.getName());
    return Natives.run(command);
  }
}
