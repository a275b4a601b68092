// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import static io.verbena.verbs.CompletionOpcode.RECV;
import static io.verbena.verbs.CompletionStatus.LOC_PROT_ERR;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.WorkCompletion;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The rules that hold for both unreliable transports, UC and UD. */
abstract class UnreliableTransportTests extends VerbsTests {
  @RegisterExtension final RequiresSupport transport;

  UnreliableTransportTests(VerbsTck provider, QueuePairType type) {
    super(provider);
    transport = RequiresSupport.of(this, type, this::assertRefusedToo);
  }

  /** Asserts what else a device without this transport refuses, besides queue pairs. */
  void assertRefusedToo() {}

  /** Connects two endpoints. */
  abstract UnreliablePath path();

  /** Waits until every message that was sent on a path has arrived or is lost. */
  abstract void awaitDelivery(UnreliablePath path);

  @Test
  void carriesImmediates() {
    UnreliablePath path = path();
    path.postReceive(1, 0);

    path.send(path.to(Requests.sendWithImmediate(2, 0x1234_5678)));

    WorkCompletion received = path.server().received().expectSuccess(1, RECV);
    assertThat(received.hasImmediate()).isTrue();
    assertThat(received.immediate()).isEqualTo(0x1234_5678);
    assertThat(received.byteLength()).isEqualTo(path.headerLength());
    if (path.handle() != null) {
      assertThat(received.flags()).isEqualTo(WorkCompletion.GRH | WorkCompletion.WITH_IMM);
    }
  }

  @Test
  void losesAMessageForWhichThereIsNoReceive() {
    UnreliablePath path = path();

    path.send(path.to(Requests.send(1, path.client().memory(8).putLong(0, 1))));
    awaitDelivery(path);

    path.assertTakesTheNextMessage();
  }

  @Test
  void keepsTheReceiveOfAMessageThatIsTooLargeForIt() {
    UnreliablePath path = path();
    TestMemory from = path.client().memory(9).fill(1);
    TestMemory into = path.postReceive(1, 8);

    path.send(path.to(Requests.send(2, from)));
    path.send(path.to(Requests.send(3, from.part(0, 8))));

    assertThat(path.server().received().expectSuccess(1, RECV).byteLength())
        .isEqualTo(into.length());
    into.part(path.headerLength(), 8).assertHolds(1);
    assertThat(path.server().queuePair().state()).isEqualTo(QueuePairState.RTS);
  }

  @Test
  void stopsAtAReceiveThatMayNotBeWritten() {
    UnreliablePath path = path();
    Endpoint server = path.server();
    server.post(Requests.receive(1, server.memory(path.headerLength() + 8)));

    path.send(path.to(Requests.send(2, path.client().memory(8).fill(1))));

    server.received().expectError(1, LOC_PROT_ERR);
    server.awaitState(QueuePairState.ERR);
    assertThat(path.client().queuePair().state()).isEqualTo(QueuePairState.RTS);
  }
}
