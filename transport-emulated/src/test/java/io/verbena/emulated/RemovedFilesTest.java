// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionManager;
import io.verbena.verbs.Device;
import io.verbena.verbs.PortSpace;
import io.verbena.verbs.VerbsException;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Closing a device on shared memory succeeds even if others have removed its files. */
class RemovedFilesTest {
  @TempDir private Path parent;
  private Path folder;
  private URI address;

  @BeforeEach
  void name() {
    folder = parent.resolve("hosts");
    address = URI.create("shm://orders?dir=" + folder);
  }

  @Test
  void whoAwaitsEventsLearnsThatADeviceWithoutItsFolderIsClosed() throws Exception {
    Device device = new ShmProvider().open(address);
    CompletableFuture<String> waited = new CompletableFuture<>();
    Thread waiting =
        new Thread(
            () -> {
              try {
                waited.complete(String.valueOf(device.awaitAsyncEvent(TimeUnit.HOURS.toNanos(1))));
              } catch (InterruptedException | RuntimeException | Error e) {
                waited.completeExceptionally(e);
              }
            });
    waiting.setDaemon(true);
    waiting.start();
    try (Stream<Path> files = Files.list(folder)) {
      for (Path each : files.toList()) {
        Files.delete(each);
      }
    }
    Files.delete(folder);

    device.close();

    assertThat(waited.get(Caller.LIMIT.toSeconds(), TimeUnit.SECONDS)).isEqualTo("null");
  }

  @Test
  void aListenerWhoseNameCannotBeRemovedHoldsUpNobody() throws IOException {
    Path name = folder.resolve("orders.name");
    try (Device device = new ShmProvider().open(address);
        ConnectionManager manager = device.createConnectionManager()) {
      ConnectionListener listener = manager.listen(PortSpace.TCP, address, 1);
      Files.delete(name);
      Files.createDirectories(name.resolve("inside"));

      assertThatThrownBy(listener::close)
          .isInstanceOf(VerbsException.class)
          .hasMessageContaining("close listener");
    }
  }
}
