// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.RdmaConnectException;
import io.verbena.RdmaServer;
import io.verbena.RdmaTransport;
import io.verbena.reactor.testing.Ends;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

/** Tests that a locked wire refuses a client without the key, with an error that names the key. */
@Tag("once")
class LockedConnectTest {
  private final RdmaTransport transport = RdmaTransport.create(Ends.options().build());

  @TempDir Path folder;

  @AfterEach
  void dispose() {
    transport.dispose();
  }

  private String key(int first) throws IOException {
    byte[] bytes = new byte[32];
    bytes[0] = (byte) first;
    return "?key-file=" + Files.write(folder.resolve("key" + first), bytes);
  }

  @ParameterizedTest
  @ValueSource(strings = {"roce", "iwarp"})
  void anotherKeyIsAnErrorThatNamesIt(String scheme) throws IOException {
    long pid = ProcessHandle.current().pid();
    String host = scheme + "://127.61." + (pid / 255 & 0xff) + "." + pid % 255;
    RdmaServer server =
        transport.bind(URI.create(host + ":0" + key(1)), c -> Mono.never()).block(Ends.LIMIT);
    assertThat(server).isNotNull();
    String open = host + ":" + server.address().getPort();

    for (String address : new String[] {open + key(2), open}) {
      assertThatThrownBy(() -> transport.connect(URI.create(address)).block(Ends.LIMIT))
          .as(address)
          .isInstanceOf(RdmaConnectException.class)
          .hasMessageContaining("the keys differ, or one end has none");
    }
    assertThat(transport.connect(URI.create(open + key(1))).block(Ends.LIMIT)).isNotNull();
  }
}
