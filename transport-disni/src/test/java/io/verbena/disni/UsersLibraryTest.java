// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests a user's {@code libdisni.so} that treats its arguments like the published library. */
@Tag(FakeRdmaCore.TAG)
@Tag("once")
final class UsersLibraryTest {
  private static final Path SOURCES = Path.of("src/main/native");

  @TempDir private Path folder;

  @Test
  void hasNoSayInSourcesAndPortSpaces() throws Exception {
    FakeRdmaCore.assumeLoaded();
    assumeTrue(FakeRdmaCore.SCHEME.equals("disni"), "verbs:// takes no libdisni.so");
    Path identifiers = SOURCES.resolve("disni/identifiers.c");
    String published =
        replaced(
            replaced(
                Files.readString(identifiers),
                "(enum rdma_port_space)(uint16_t)port_space",
                "((void)port_space, RDMA_PS_TCP)"),
            "POINTER(struct sockaddr, source)",
            "((void)source, NULL)");
    compile(published, identifiers, folder.resolve("libdisni.so"));

    String output =
        Natives.run(Natives.java("-Djava.library.path=" + folder, UsersLibrary.class.getName()));

    assertThat(output)
        .contains("DiSNI on " + folder)
        .contains("leaves from 10.0.3.10\n")
        .contains("asks for datagrams: REJECTED\n");
  }

  private static String replaced(String source, String ours, String theirs) {
    assertThat(source).contains(ours);
    return source.replace(ours, theirs);
  }

  /** Compiles DiSNI's native library with this text in place of one file. */
  private static void compile(String text, Path instead, Path library) throws Exception {
    List<String> options = new ArrayList<>(List.of("-std=gnu11", "-pthread"));
    String jdk = System.getProperty("java.home");
    options.addAll(List.of("-I" + jdk + "/include", "-I" + jdk + "/include/linux"));
    options.add("-I" + SOURCES.resolve("disni"));
    options.addAll(files(SOURCES.resolve("disni"), instead));
    options.addAll(files(SOURCES.resolve("common"), instead));
    options.addAll(List.of("-lrdmacm", "-libverbs"));
    Natives.compile(text, library, options.toArray(String[]::new));
  }

  private static List<String> files(Path folder, Path without) throws IOException {
    List<String> files = new ArrayList<>(NativeClaims.files(folder));
    files.remove(without.toString());
    return files;
  }
}
