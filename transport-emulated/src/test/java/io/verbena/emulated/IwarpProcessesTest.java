// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.PortSpace;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.VerbsException;
import java.net.URI;
import java.util.Objects;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests two JVMs with a TCP connection between them. */
@Tag("once")
class IwarpProcessesTest {
  private static final URI ANY = URI.create("iwarp://" + Loopbacks.ADDRESS + ":0");
  private static final URI CHECKED = URI.create(ANY + "?crc=true");

  @Test
  void moveMessagesAndMemory() throws Exception {
    try (OtherProcess other = new OtherProcess(ANY.toString());
        Caller caller = new Caller(ANY)) {
      TwoProcessesTest.moveMessagesAndMemory(other, caller);
    }
  }

  @Test
  void moveThemWithCrcs() throws Exception {
    try (OtherProcess other = new OtherProcess(CHECKED.toString());
        Caller caller = new Caller(ANY)) {
      assertThat(other.address.getQuery()).isEqualTo("crc=true");
      TwoProcessesTest.moveMessagesAndMemory(other, caller);
    }
  }

  @Test
  void tellOneWhoseOtherIsKilled() throws Exception {
    try (OtherProcess other = new OtherProcess(ANY.toString());
        Caller caller = new Caller(ANY)) {
      ConnectionEvent event = caller.connect(other.address, 7);
      QueuePair pair = Objects.requireNonNull(event.identifier().queuePair());
      long bytes = caller.region.address();
      pair.postReceive(
          new ReceiveWorkRequest(1).id(1).buffer(bytes, Long.BYTES, caller.region.lkey()));

      other.kill();

      caller.expect(ConnectionEvent.Type.DISCONNECTED);
      assertThat(caller.next().status()).isEqualTo(CompletionStatus.WR_FLUSH_ERR);
    }
  }

  @Test
  void leaveNothingBehindThatKeepsTheNextFromItsPort() throws Exception {
    URI address;
    try (OtherProcess other = new OtherProcess(ANY.toString());
        Caller caller = new Caller(ANY)) {
      address = other.address;
      ConnectionEvent event = caller.connect(address, 7);
      assertThat(event.identifier().peer()).isEqualTo(address.toString());
      other.kill();
      other.awaitEnd();
    }

    try (Caller next = new Caller(ANY);
        ConnectionListener listener = next.manager.listen(PortSpace.TCP, address, 1)) {
      assertThat(listener.address()).isEqualTo(address);
    }
  }

  @Test
  void refuseAPortThatAnotherListensOn() throws Exception {
    try (OtherProcess other = new OtherProcess(ANY.toString());
        Caller caller = new Caller(ANY)) {
      assertThatThrownBy(() -> caller.manager.listen(PortSpace.TCP, other.address, 1))
          .isInstanceOf(VerbsException.class)
          .hasMessageContaining("listen: " + other.address + ": Address already in use");
    }
  }

  @Test
  void refuseAConnectionToAPortThatNobodyListensOn() throws Exception {
    URI nobody = URI.create("iwarp://" + Loopbacks.ADDRESS + ":9");
    try (Caller caller = new Caller(ANY)) {
      caller.resolve(nobody).connect(ConnectionParameters.defaults(), Caller.LIMIT.toNanos());

      ConnectionEvent refused = caller.expect(ConnectionEvent.Type.REJECTED);
      assertThat(refused.status()).isEqualTo(ConnectionEvent.REJECT_INVALID_SERVICE_ID);
    }
  }
}
