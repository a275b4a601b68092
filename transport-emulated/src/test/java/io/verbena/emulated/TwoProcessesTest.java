// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.Capability;
import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Two JVMs on one address of this machine: one has UDP port 4791, the other another port. */
class TwoProcessesTest {
  private static final String HOST = Loopbacks.address(1);
  private static final int MESSAGES = 50;
  private static final int LARGE = 256 << 10;
  private static final int ECHO = 512 << 10;

  @Test
  void moveMessagesAndMemory() throws Exception {
    try (OtherProcess other = new OtherProcess("roce://" + HOST);
        Caller caller = new Caller(URI.create("roce://" + HOST))) {
      assertThat(other.address.getQuery()).as("the first has the port of RoCEv2").isNull();
      assertThat(caller.device.port().gids().get(0).high()).as("the second has not").isNotZero();
      moveMessagesAndMemory(other, caller);
    }
  }

  static void moveMessagesAndMemory(OtherProcess other, Caller caller) throws InterruptedException {
    ConnectionEvent event = caller.connect(other.address, 7);
    QueuePair pair = Objects.requireNonNull(event.identifier().queuePair());
    ByteBuffer lent = event.privateData();
    long remote = lent.getLong(lent.position());
    int key = lent.getInt(lent.position() + Long.BYTES);

    echoes(caller, pair);
    writesAndReads(caller, pair, remote + ECHO, key);
    if (caller.device.attributes().supports(Capability.ATOMICS)) {
      counts(caller, pair, remote + ECHO, key);
    }

    event.identifier().disconnect();
    caller.expect(ConnectionEvent.Type.DISCONNECTED);
  }

  private static void echoes(Caller caller, QueuePair pair) {
    Random random = new Random(1);
    for (int i = 0; i < MESSAGES; i++) {
      byte[] message = new byte[random.nextInt(16_000)];
      random.nextBytes(message);
      caller.bytes.put(0, message);
      long address = caller.region.address();
      int key = caller.region.lkey();
      pair.postReceive(new ReceiveWorkRequest(1).id(1).buffer(address + ECHO, 16_000, key));
      pair.postSend(new SendWorkRequest(1).id(2).send().buffer(address, message.length, key));
      WorkCompletion done = caller.next();

      assertThat(done.status()).isEqualTo(CompletionStatus.SUCCESS);
      assertThat(done.opcode()).isEqualTo(CompletionOpcode.RECV);
      byte[] echo = new byte[done.byteLength()];
      caller.bytes.get(ECHO, echo);
      assertThat(echo).as("message %d", i).isEqualTo(message);
      if (i % 16 == 15) {
        pair.postSend(new SendWorkRequest(1).id(3).write(0, 0).signaled());
        assertThat(caller.next().workRequestId()).isEqualTo(3);
      }
    }
  }

  private static void writesAndReads(Caller caller, QueuePair pair, long remote, int key) {
    byte[] content = new byte[LARGE];
    new Random(2).nextBytes(content);
    caller.bytes.put(0, content);
    long address = caller.region.address();
    int lkey = caller.region.lkey();
    pair.postSend(new SendWorkRequest(1).id(4).write(remote, key).buffer(address, LARGE, lkey));
    pair.postSend(
        new SendWorkRequest(1)
            .id(5)
            .read(remote, key)
            .signaled()
            .buffer(address + ECHO, LARGE, lkey));

    assertThat(caller.next().toString()).contains("SUCCESS");
    byte[] read = new byte[LARGE];
    caller.bytes.get(ECHO, read);
    assertThat(read).isEqualTo(content);
  }

  private static void counts(Caller caller, QueuePair pair, long remote, int key) {
    long address = caller.region.address();
    caller.bytes.putLong(0, 0);
    pair.postSend(
        new SendWorkRequest(1)
            .id(6)
            .write(remote, key)
            .buffer(address, Long.BYTES, caller.region.lkey()));
    for (int i = 0; i < 100; i++) {
      pair.postSend(
          new SendWorkRequest(1)
              .id(7)
              .fetchAndAdd(remote, key, 3)
              .signaled()
              .buffer(address, Long.BYTES, caller.region.lkey()));
      assertThat(caller.next().status()).isEqualTo(CompletionStatus.SUCCESS);
      assertThat(caller.bytes.order(java.nio.ByteOrder.nativeOrder()).getLong(0))
          .as("what it found, time %d", i)
          .isEqualTo(3L * i);
    }
  }

  @Test
  void failARequestWhoseProcessIsKilled() throws Exception {
    try (OtherProcess other = new OtherProcess("roce://" + HOST + "?udp-port=0");
        Caller caller = new Caller(URI.create("roce://" + Loopbacks.address(2)))) {
      ConnectionEvent event = caller.connect(other.address, 1);
      QueuePair pair = Objects.requireNonNull(event.identifier().queuePair());

      other.kill();
      pair.postSend(new SendWorkRequest(1).id(1).write(0, 0).signaled());

      assertThat(caller.next().status()).isEqualTo(CompletionStatus.RETRY_EXC_ERR);
    }
  }
}
