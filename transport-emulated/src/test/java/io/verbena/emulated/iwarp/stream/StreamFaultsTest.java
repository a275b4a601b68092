// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.stream;

import static io.verbena.emulated.iwarp.stream.StreamPair.LARGE;
import static io.verbena.emulated.iwarp.stream.StreamPair.OTHERS;
import static io.verbena.emulated.iwarp.stream.StreamPair.pattern;
import static io.verbena.emulated.iwarp.stream.StreamPair.read;
import static io.verbena.emulated.iwarp.stream.StreamPair.send;
import static io.verbena.emulated.iwarp.stream.StreamPair.write;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.engine.TestHost.Done;
import io.verbena.emulated.engine.TestHost.Region;
import io.verbena.emulated.iwarp.frame.TerminateCause;
import io.verbena.emulated.iwarp.stream.StreamEngine.State;
import io.verbena.emulated.iwarp.stream.StreamTerms.Role;
import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.SendWorkRequest;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A fault ends an iWARP stream, and the peer receives the cause. */
@Tag("once")
class StreamFaultsTest {
  private final StreamPair pair = new StreamPair();

  @Test
  void endsAStreamWithoutAReceive() {
    pair.start(true);
    Region from = pair.active.host.register(8);
    pair.active.post(send(1, from));

    pair.run();

    pair.assertEnded(TerminateCause.UNTAGGED_NO_BUFFER);
    assertThat(pair.active.host.sendsDone)
        .extracting(Done::status)
        .containsExactly(CompletionStatus.SUCCESS);
    assertThat(pair.passive.host.events).containsExactly(AsyncEvent.Type.QP_REQ_ERR);
  }

  @Test
  void endsAStreamWithAMessageThatIsTooLong() {
    pair.start(true);
    Region from = pair.active.host.register(8);
    pair.passive.receive(2, pair.passive.host.register(8), 7);
    pair.active.post(send(1, from));

    pair.run();

    pair.assertEnded(TerminateCause.UNTAGGED_TOO_LONG);
    assertThat(pair.passive.host.receivesDone)
        .extracting(Done::status)
        .containsExactly(CompletionStatus.LOC_LEN_ERR);
  }

  @Test
  void endsAStreamThatWritesWhereItMayNot() {
    pair.start(true);
    Region from = pair.active.host.register(8);
    pair.active.post(
        new SendWorkRequest(1).id(1).write(0x1000, 0x77).buffer(from.address, 8, from.key));

    pair.run();

    pair.assertEnded(TerminateCause.TAGGED_INVALID_TAG);
    assertThat(pair.passive.host.events).containsExactly(AsyncEvent.Type.QP_ACCESS_ERR);
  }

  @Test
  void endsAStreamThatReadsWhereItMayNot() {
    pair.start(true);
    Region sink = pair.active.host.register(8);
    Region remote = pair.passive.host.register(8);
    pair.active.post(
        new SendWorkRequest(1)
            .id(1)
            .read(remote.address + 1, remote.key)
            .buffer(sink.address, 8, sink.key));

    pair.run();

    pair.assertEnded(TerminateCause.REMOTE_BOUNDS);
    assertThat(pair.active.host.sendsDone)
        .extracting(Done::status)
        .containsExactly(CompletionStatus.WR_FLUSH_ERR);
  }

  @Test
  void endsAStreamOnAQueuePairThatAllowsNothing() {
    pair.start(true);
    pair.passive.forbidsPeers = true;
    Region from = pair.active.host.register(8);
    Region remote = pair.passive.host.register(8);
    pair.active.post(write(1, from, remote));

    pair.run();

    pair.assertEnded(TerminateCause.REMOTE_ACCESS);
    assertThat(pair.passive.host.events).containsExactly(AsyncEvent.Type.QP_REQ_ERR);
  }

  @Test
  void endsAStreamWithMoreReadsThanItServes() {
    pair.passive.engine.start(new StreamTerms(false, 1, 1, Role.PASSIVE));
    pair.active.engine.start(new StreamTerms(false, 4, 4, Role.ACTIVE_WRITES_FIRST));
    Region sink = pair.active.host.register(8);
    Region remote = pair.passive.host.register(8);
    for (int id = 1; id <= 3; id++) {
      pair.active.post(read(id, remote, sink));
    }

    pair.run();

    pair.assertEnded(TerminateCause.STREAM_CATASTROPHE);
  }

  @Test
  void failsARequestThatIsBadByItselfBehindThoseBeforeIt() {
    pair.start(false);
    Region sink = pair.active.host.register(8);
    Region remote = pair.passive.host.register(8);
    pair.active.post(read(1, remote, sink));
    pair.active.post(new SendWorkRequest(1).id(2).send().buffer(0x10, 8, 0x77));
    pair.active.post(new SendWorkRequest(1).id(3).send());

    pair.run();

    assertThat(pair.active.host.sendsDone)
        .extracting(Done::status)
        .containsExactly(
            CompletionStatus.SUCCESS, CompletionStatus.LOC_PROT_ERR, CompletionStatus.WR_FLUSH_ERR);
    assertThat(pair.passive.engine.peersCause()).isEqualTo(TerminateCause.LOCAL);
  }

  /** The fault is found at the point where the TERMINATE is added. */
  @Test
  void tellsOfABadRequestWithNothingBeforeIt() {
    pair.start(false);
    pair.run();
    pair.active.post(new SendWorkRequest(1).id(1).send().buffer(0x10, 8, 0x77));

    pair.run();

    assertThat(pair.passive.engine.peersCause()).isEqualTo(TerminateCause.LOCAL);
    assertThat(pair.active.host.sendsDone)
        .extracting(Done::status)
        .containsExactly(CompletionStatus.LOC_PROT_ERR);
  }

  /** The fault is found at the point where the TERMINATE is added. */
  @Test
  void tellsOfAnAnswerWhoseMemoryHasDied() {
    pair.start(false);
    pair.run();
    Region sink = pair.active.host.register(8);
    Region remote = pair.passive.host.register(8);
    pair.active.post(read(1, remote, sink));
    assertThat(pair.active.turn()).isTrue();
    assertThat(pair.passive.engine.receive(pair.there)).isTrue();

    assertThat(pair.passive.host.forget(remote.key)).isTrue();
    pair.run();

    pair.assertEnded(TerminateCause.REMOTE_PROTECTION);
  }

  /** When the peer's fault is found, the socket may have taken any part of a segment. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void tellsOfAFaultBehindTheRestOfASegment(boolean crc) {
    pair.start(crc);
    pair.run();
    Region from = StreamPair.filled(pair.active.host.register(LARGE), 3);
    Region inbox = pair.passive.host.register(LARGE);
    pair.passive.receive(1, inbox, LARGE);
    pair.there.most = 100;
    pair.active.post(send(1, from));
    pair.passive.post(
        new SendWorkRequest(1).id(2).write(0x1000, 0x77).buffer(inbox.address, 8, inbox.key));
    assertThat(pair.active.turn()).isTrue();
    assertThat(pair.passive.turn()).isTrue();

    assertThat(pair.active.turn()).isTrue();
    assertThat(pair.active.engine.state()).isEqualTo(State.ENDING);
    Arrays.fill(from.bytes, OTHERS);
    pair.run();

    assertThat(pair.passive.engine.peersCause()).isEqualTo(TerminateCause.TAGGED_INVALID_TAG);
    assertThat(pair.passive.host.receivesDone)
        .extracting(Done::toString)
        .containsExactly("1 SUCCESS RECV " + LARGE);
    assertThat(inbox.bytes[LARGE - 1]).isEqualTo(pattern(3, LARGE - 1));
  }

  /** The caller sends the rest later, while the owner of the memory may already overwrite it. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void givesUpWhatAFullChannelDoesNotTake(boolean crc) throws IOException {
    pair.start(crc);
    pair.run();
    Region from = StreamPair.filled(pair.active.host.register(LARGE), 3);
    Region inbox = pair.passive.host.register(LARGE);
    pair.passive.receive(1, inbox, LARGE);
    pair.there.most = 100;
    pair.active.post(send(1, from));
    pair.passive.post(
        new SendWorkRequest(1).id(2).write(0x1000, 0x77).buffer(inbox.address, 8, inbox.key));
    assertThat(pair.active.engine.send(pair.there)).isFalse();
    assertThat(pair.active.engine.isFull()).isTrue();
    assertThat(pair.passive.turn()).isTrue();
    assertThat(pair.active.engine.receive(pair.back)).isTrue();
    assertThat(pair.active.engine.state()).isEqualTo(State.ENDING);

    ByteBuffer rest = pair.active.engine.takeRest();
    Arrays.fill(from.bytes, OTHERS);
    assertThat(pair.active.engine.state()).isEqualTo(State.ENDED);
    while (rest.hasRemaining()) {
      assertThat(pair.there.write(rest)).isPositive();
    }
    pair.run();

    assertThat(pair.passive.engine.peersCause()).isEqualTo(TerminateCause.TAGGED_INVALID_TAG);
    assertThat(pair.passive.host.receivesDone)
        .extracting(Done::toString)
        .containsExactly("1 SUCCESS RECV " + LARGE);
    assertThat(inbox.bytes[LARGE - 1]).isEqualTo(pattern(3, LARGE - 1));
  }

  @Test
  void tellsThatAKeyHasDiedBeforeAnythingOfASegmentIsSent() {
    pair.start(false);
    pair.run();
    Region from = pair.active.host.register(LARGE);
    pair.there.most = 0;
    pair.active.post(send(1, from));
    assertThat(pair.active.engine.send(pair.there)).isFalse();

    assertThat(pair.active.host.forget(from.key)).isTrue();
    pair.there.most = Integer.MAX_VALUE;
    pair.run();

    assertThat(pair.passive.engine.peersCause()).isEqualTo(TerminateCause.LOCAL);
    assertThat(pair.active.host.sendsDone)
        .extracting(Done::status)
        .containsExactly(CompletionStatus.WR_FLUSH_ERR);
  }

  /**
   * Otherwise nobody would send the TERMINATE, and the unread bytes would wake the thread for ever.
   */
  @Test
  void tellsThatItEndsWhereAKeyHasDiedBeforeTheRestIsRead() {
    pair.start(false);
    pair.run();
    Region from = pair.active.host.register(LARGE);
    Region remote = pair.passive.host.register(LARGE);
    pair.there.most = 100;
    pair.active.post(write(1, from, remote));
    assertThat(pair.active.turn()).isTrue();
    assertThat(pair.passive.turn()).isTrue();

    assertThat(pair.passive.host.forget(remote.key)).isTrue();
    assertThat(pair.active.turn()).isTrue();

    assertThat(pair.passive.engine.receive(pair.there)).as("there is something to do").isTrue();
    assertThat(pair.passive.engine.state()).isEqualTo(State.ENDING);
    pair.run();
    pair.assertEnded(TerminateCause.TAGGED_INVALID_TAG);
  }
}
