// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.closing;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.verbs.Access;
import io.verbena.verbs.AddressHandle;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.SharedReceiveQueue;
import io.verbena.verbs.WorkCompletion;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * As {@link LostAccessTest}, for unreliable services: a sender whose memory is lost stops sending,
 * a receiver whose receive is lost goes to ERR, and a WRITE to lost memory is dropped. Other queue
 * pairs on the same completion queues keep working.
 */
@Tag("once")
class LostUnreliableAccessTest {
  private static final Set<Access> ALL =
      EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_READ, Access.REMOTE_WRITE, Access.REMOTE_ATOMIC);
  private static final int ROUTE = 40;
  private static final int DATAGRAM = 1024;
  private static final int MESSAGE = 1 << 14;
  private static final int PIECES = 4;
  private static final int DEPTH = 16;
  private static final int QUEUE_KEY = 0x77;

  private enum Kind {
    DATAGRAM,
    DATAGRAM_TO_SHARED,
    SEND,
    SEND_TO_SHARED,
    WRITE,
    WRITE_WITH_IMMEDIATE;

    QueuePairType type() {
      return isDatagram() ? QueuePairType.UD : QueuePairType.UC;
    }

    boolean isDatagram() {
      return this == DATAGRAM || this == DATAGRAM_TO_SHARED;
    }

    boolean isToShared() {
      return this == DATAGRAM_TO_SHARED || this == SEND_TO_SHARED;
    }

    boolean namesMemory() {
      return this == WRITE || this == WRITE_WITH_IMMEDIATE;
    }

    SendWorkRequest request(SendWorkRequest into, MemoryRegion named) {
      return switch (this) {
        case DATAGRAM, DATAGRAM_TO_SHARED, SEND, SEND_TO_SHARED -> into.send();
        case WRITE -> into.write(named.address(), named.rkey());
        case WRITE_WITH_IMMEDIATE -> into.writeWithImmediate(named.address(), named.rkey(), 7);
      };
    }
  }

  private final WorkCompletion[] one = WorkCompletion.array(1);

  static List<Arguments> cells() {
    List<Arguments> cells = new ArrayList<>();
    for (Medium medium : Medium.values()) {
      if (medium == Medium.IWARP) {
        // All queue pairs of iWARP are reliable.
        continue;
      }
      for (Kind kind : Kind.values()) {
        for (int pieces : new int[] {1, PIECES}) {
          for (int lost : pieces == 1 ? new int[] {0} : new int[] {0, PIECES - 1}) {
            cells.add(Arguments.of(medium, kind, pieces, "near", lost));
            cells.add(Arguments.of(medium, kind, pieces, "far", kind.namesMemory() ? 0 : lost));
          }
        }
      }
    }
    return cells;
  }

  @ParameterizedTest(name = "{0}: {1} of {2} buffers, the {3} end loses number {4}")
  @MethodSource("cells")
  void aMessageWhoseMemoryIsLostEndsAndOthersGoOn(
      Medium medium, Kind kind, int pieces, String loser, int lost) {
    int length = kind.isDatagram() ? DATAGRAM : MESSAGE;
    try (EmulatedDevice device = medium.open();
        CompletionQueue sent = device.createCompletionQueue(DEPTH, null);
        CompletionQueue received = device.createCompletionQueue(DEPTH, null);
        CompletionQueue innocent = device.createCompletionQueue(DEPTH, null);
        ProtectionDomain domain = device.allocateProtectionDomain();
        MemoryRegion sound = domain.register(ByteBuffer.allocateDirect(256), ALL);
        LostMemory near = new LostMemory(domain, length, pieces, ALL);
        LostMemory far = new LostMemory(domain, length, kind.namesMemory() ? 1 : pieces, ALL)) {
      QueuePairOptions reliable = QueuePairOptions.reliable(sent, received, DEPTH, DEPTH);
      QueuePairOptions options =
          reliable.withScatterGather(PIECES + 1, PIECES + 1).withType(kind.type());
      SharedReceiveQueue shared =
          kind.isToShared() ? domain.createSharedReceiveQueue(DEPTH, PIECES + 1) : null;
      try (QueuePair sender = domain.createQueuePair(options);
          QueuePair receiver =
              domain.createQueuePair(
                  shared == null ? options : options.withSharedReceiveQueue(shared));
          QueuePair innocentSender = domain.createQueuePair(reliable);
          QueuePair innocentReceiver =
              domain.createQueuePair(QueuePairOptions.reliable(innocent, innocent, 1, 1));
          AddressHandle way = domain.createAddressHandle(AddressVector.to(device.gid()))) {
        connect(device, sender, receiver);
        connect(device, receiver, sender);
        Connections.connect(device, innocentSender, innocentReceiver);
        ReceiveWorkRequest receive = new ReceiveWorkRequest(PIECES + 1).id(1);
        receive.buffers().add(sound.address(), ROUTE, sound.lkey());
        far.addTo(receive);
        post(receive, receiver, shared);
        (loser.equals("near") ? near : far).lose(lost, 0);

        SendWorkRequest request = new SendWorkRequest(PIECES + 1).id(2);
        kind.request(request, far.regions.get(0)).signaled();
        near.addTo(request);
        if (kind.isDatagram()) {
          request.to(way, receiver.number(), QUEUE_KEY);
        } else if (!kind.namesMemory()) {
          request.buffers().add(sound.address(), ROUTE, sound.lkey());
        }
        sender.postSend(request);

        assertThat(next(sent).workRequestId()).isEqualTo(2);
        if (loser.equals("near")) {
          assertThat(one[0].status()).isEqualTo(CompletionStatus.LOC_PROT_ERR);
          LostMemory.awaitState(sender, QueuePairState.SQE);
        } else {
          assertThat(one[0].status()).isEqualTo(CompletionStatus.SUCCESS);
          if (!kind.namesMemory()) {
            assertThat(next(received).workRequestId()).isEqualTo(1);
            assertThat(one[0].status()).isEqualTo(CompletionStatus.LOC_PROT_ERR);
            LostMemory.awaitState(receiver, QueuePairState.ERR);
          }
        }
        assertThatOthersGoOn(innocentSender, innocentReceiver, sound, sent, innocent);
        assertThat(received.poll(one)).as("other completions of the receiver").isZero();
        if (kind.namesMemory()) {
          assertThat(receiver.state()).isEqualTo(QueuePairState.RTS);
        }
      }
      if (shared != null) {
        shared.close();
      }
    }
  }

  private static void post(
      ReceiveWorkRequest receive, QueuePair receiver, @Nullable SharedReceiveQueue shared) {
    if (shared == null) {
      receiver.postReceive(receive);
    } else {
      shared.postReceive(receive);
    }
  }

  private static void connect(EmulatedDevice device, QueuePair pair, QueuePair to) {
    boolean datagrams = pair.type() == QueuePairType.UD;
    QueuePairAttributes begin =
        new QueuePairAttributes().state(QueuePairState.INIT).pkeyIndex(0).port(1);
    pair.modify(
        datagrams ? begin.queueKey(QUEUE_KEY) : begin.access(EnumSet.of(Access.REMOTE_WRITE)));
    QueuePairAttributes ready = new QueuePairAttributes().state(QueuePairState.RTR);
    pair.modify(
        datagrams
            ? ready
            : ready
                .addressVector(AddressVector.to(device.gid()))
                .pathMtu(device.port().activeMtu())
                .destinationQueuePair(to.number())
                .receivePsn(1));
    pair.modify(new QueuePairAttributes().state(QueuePairState.RTS).sendPsn(1));
  }

  private void assertThatOthersGoOn(
      QueuePair sender,
      QueuePair receiver,
      MemoryRegion sound,
      CompletionQueue sent,
      CompletionQueue received) {
    receiver.postReceive(
        new ReceiveWorkRequest(1).id(3).buffer(sound.address() + 64, 64, sound.lkey()));
    sender.postSend(
        new SendWorkRequest(1)
            .id(4)
            .send()
            .signaled()
            .buffer(sound.address() + 128, 64, sound.lkey()));
    assertThat(next(sent).workRequestId()).isEqualTo(4);
    assertThat(one[0].isSuccess()).isTrue();
    assertThat(next(received).workRequestId()).isEqualTo(3);
    assertThat(one[0].isSuccess()).isTrue();
  }

  private WorkCompletion next(CompletionQueue queue) {
    return LostMemory.next(queue, one);
  }
}
