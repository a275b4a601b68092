// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** A program that connects a device to itself and prints the shared libraries it has mapped. */
final class MappedLibraries {
  private static final Path MAPS = Path.of("/proc/self/maps");

  private MappedLibraries() {}

  public static void main(String[] arguments) throws Exception {
    try (FakeConnection link =
        new FakeConnection(FakeRdmaCore.uri("10.0.1.1:0"), "", /* withChannel= */ true)) {
      link.server.postReceive(new ReceiveWorkRequest());
      link.client.postSend(new SendWorkRequest().send().signaled());
      assertThat(link.complete().isSuccess()).isTrue();
      assertThat(link.complete().isSuccess()).isTrue();
      try (Stream<String> maps = Files.lines(MAPS)) {
        maps.map(line -> line.replaceAll("^[^/]*| \\(deleted\\)$", ""))
            .filter(file -> file.contains(".so"))
            .distinct()
            .forEach(System.out::println);
      }
    }
  }
}
