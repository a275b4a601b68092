// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.PortSpace;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.VerbsException;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests two JVMs that share memory. */
@Tag("once")
class ShmProcessesTest {
  @TempDir private Path folder;

  private URI address(String name) {
    return URI.create("shm://" + name + "?dir=" + folder);
  }

  @Test
  void moveMessagesAndMemory() throws Exception {
    try (OtherProcess other = new OtherProcess(address("server").toString());
        Caller caller = new Caller(address("server"))) {
      TwoProcessesTest.moveMessagesAndMemory(other, caller);
    }
  }

  @Test
  void tellOneWhoseOtherIsKilled() throws Exception {
    try (OtherProcess other = new OtherProcess(address("server").toString());
        Caller caller = new Caller(address("server"))) {
      ConnectionEvent event = caller.connect(other.address, 7);
      QueuePair pair = Objects.requireNonNull(event.identifier().queuePair());
      long bytes = caller.region.address();
      pair.postReceive(
          new ReceiveWorkRequest(1).id(1).buffer(bytes, Long.BYTES, caller.region.lkey()));

      other.kill();

      caller.expect(ConnectionEvent.Type.DISCONNECTED);
      assertThat(caller.next().status()).isEqualTo(CompletionStatus.WR_FLUSH_ERR);
      other.awaitEnd();
      await()
          .atMost(Caller.LIMIT)
          .untilAsserted(() -> assertThat(hosts()).as("files of hosts").hasSize(1));
    }
  }

  /** A stopped process answers no packet. */
  @Test
  void readFromOneThatIsStopped() throws Exception {
    try (OtherProcess other = new OtherProcess(address("server").toString());
        Caller caller = new Caller(address("server"))) {
      ConnectionEvent event = caller.connect(other.address, 7);
      QueuePair pair = Objects.requireNonNull(event.identifier().queuePair());
      ByteBuffer lent = event.privateData();
      long remote = lent.getLong(lent.position());
      int key = lent.getInt(lent.position() + Long.BYTES);
      for (int i = 0; i < 4; i++) {
        if (i == 3) {
          other.stop();
        }
        pair.postSend(
            new SendWorkRequest(1)
                .id(i)
                .read(remote, key)
                .signaled()
                .buffer(caller.region.address(), 4096, caller.region.lkey()));
        assertThat(caller.next().status()).as("READ %s", i).isEqualTo(CompletionStatus.SUCCESS);
      }
      other.kill();
      caller.expect(ConnectionEvent.Type.DISCONNECTED);
    }
  }

  @Test
  void failARequestWhoseProcessIsStoppedAndThenKilled() throws Exception {
    try (OtherProcess other = new OtherProcess(address("server").toString());
        Caller caller = new Caller(address("server"))) {
      ConnectionEvent event = caller.connect(other.address, 7);
      QueuePair pair = Objects.requireNonNull(event.identifier().queuePair());
      other.stop();
      pair.postSend(new SendWorkRequest(1).id(1).write(0, 0).signaled());

      other.kill();

      assertThat(caller.next().status()).isEqualTo(CompletionStatus.RETRY_EXC_ERR);
      caller.expect(ConnectionEvent.Type.DISCONNECTED);
    }
  }

  @Test
  void leaveNothingBehindThatKeepsTheNextFromItsName() throws Exception {
    try (OtherProcess other = new OtherProcess(address("server").toString())) {
      assertThat(other.address).isEqualTo(address("server"));
      other.kill();
      other.awaitEnd();
    }

    try (Caller next = new Caller(address("server"));
        ConnectionListener listener = next.manager.listen(PortSpace.TCP, address("server"), 1)) {
      assertThat(listener.address()).isEqualTo(address("server"));
      assertThat(hosts()).hasSize(1);
    }
  }

  private List<Path> hosts() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.filter(file -> file.toString().endsWith(".host")).toList();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"a%20b", "a%2Bb", "a%25b"})
  void listenInAFolderOfAnyName(String name) throws Exception {
    URI address = URI.create(address("server") + "/" + name);
    try (OtherProcess other = new OtherProcess(address.toString());
        Caller caller = new Caller(address)) {
      assertThat(other.address).isEqualTo(address);
      assertThat(caller.connect(other.address, 7)).isNotNull();
      other.kill();
      other.awaitEnd();

      caller.manager.listen(PortSpace.TCP, address, 1).close();
      caller.manager.listen(PortSpace.TCP, address, 1).close();
    }
  }

  @Test
  void refuseANameThatAnotherListensOn() throws Exception {
    try (OtherProcess other = new OtherProcess(address("server").toString());
        Caller caller = new Caller(address("server"))) {
      assertThatThrownBy(() -> caller.manager.listen(PortSpace.TCP, other.address, 1))
          .isInstanceOf(VerbsException.class)
          .hasMessageContaining("listen: " + address("server") + " is listened on already");
    }
  }

  @Test
  void refuseAConnectionToANameThatNobodyListensOn() throws Exception {
    try (Caller caller = new Caller(address("nobody"))) {
      caller
          .resolve(address("nobody"))
          .connect(ConnectionParameters.defaults(), Caller.LIMIT.toNanos());

      ConnectionEvent refused = caller.expect(ConnectionEvent.Type.REJECTED);
      assertThat(refused.status()).isEqualTo(ConnectionEvent.REJECT_INVALID_SERVICE_ID);
    }
  }

  @Test
  void refuseAFolderThatOthersMayWriteTo() throws Exception {
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxrwx---"));

    assertThatThrownBy(() -> new ShmProvider().open(address("server")))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("rwxrwx--- (expected: a folder of user ");
  }
}
