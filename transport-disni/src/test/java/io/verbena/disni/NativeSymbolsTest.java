// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.disni.elf.ElfSymbols;
import java.lang.reflect.Modifier;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Our two libraries define exactly the symbols that Java calls. */
final class NativeSymbolsTest {
  @TempDir private Path folder;

  @Test
  void libdisniHasAllFunctionsOfDisni() throws Exception {
    Path library = Natives.unpack("libdisni.so", folder);

    assertThat(ElfSymbols.read(library).names())
        .containsExactlyInAnyOrderElementsOf(new DisniLoader(library).functions())
        .hasSize(50);
  }

  @Test
  void theExtensionHasAllOfOurs() throws Exception {
    Path library = Natives.unpack("libverbena_disni.so", folder);
    List<String> functions =
        Arrays.stream(Extension.class.getDeclaredMethods())
            .filter(method -> Modifier.isNative(method.getModifiers()))
            .map(method -> "Java_io_verbena_disni_Extension_" + method.getName())
            .toList();

    assertThat(ElfSymbols.read(library).names()).containsExactlyInAnyOrderElementsOf(functions);
  }
}
