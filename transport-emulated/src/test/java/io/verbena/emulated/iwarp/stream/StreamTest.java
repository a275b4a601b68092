// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.stream;

import static io.verbena.emulated.iwarp.stream.StreamPair.LARGE;
import static io.verbena.emulated.iwarp.stream.StreamPair.pattern;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.engine.TestHost.Done;
import io.verbena.emulated.engine.TestHost.Region;
import io.verbena.emulated.iwarp.frame.TerminateCause;
import io.verbena.emulated.iwarp.stream.StreamEngine.State;
import io.verbena.emulated.iwarp.stream.StreamPair.Program;
import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.SendOpcode;
import io.verbena.verbs.SendWorkRequest;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Two engines of iWARP, and a stream between them that is cut, broken or changed anywhere. */
@Tag("once")
class StreamTest {
  /** What who has memory back writes into it. */
  private static final byte OTHERS = 0x5a;

  private final StreamPair pair = new StreamPair();

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void carriesEachKindOfRequest(boolean crc) {
    pair.start(crc);
    Program program = new Program(pair);

    pair.run();

    assertCarried(pair, program);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void carriesThemHoweverTheStreamIsCut(boolean crc) {
    int end = lengthThere(crc);
    for (int cut = 1; cut < end; cut++) {
      StreamPair one = new StreamPair().start(crc);
      one.there.cutAt = cut;
      one.back.cutAt = cut;
      Program program = new Program(one);

      one.run();

      assertCarried(one, program);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 7, 64, 1000})
  void carriesThemInPieces(int most) {
    pair.start(true);
    pair.there.most = most;
    pair.back.most = most;
    Program program = new Program(pair);

    pair.run();

    assertCarried(pair, program);
  }

  /** As many FPDUs as that takes, of two buffers each. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void carriesWhatIsLargerThanAnFpdu(boolean crc) {
    pair.start(crc);
    int length = 100_001;
    int cut = 70_003;
    Region from = StreamPair.filled(pair.active.host.register(length), 3);
    Region remote = pair.passive.host.register(length);
    Region sink = pair.active.host.register(length);
    Region inbox = pair.passive.host.register(length);
    pair.passive.receive(1, inbox, length);
    SendWorkRequest write = new SendWorkRequest(2).id(1).write(remote.address, remote.key);
    SendWorkRequest read = new SendWorkRequest(2).id(2).read(remote.address, remote.key);
    SendWorkRequest send = new SendWorkRequest(2).id(3).send();
    write.buffers().add(from.address, cut, from.key);
    write.buffers().add(from.address + cut, length - cut, from.key);
    read.buffers().add(sink.address, length - cut, sink.key);
    read.buffers().add(sink.address + length - cut, cut, sink.key);
    send.buffers().copyFrom(write.buffers());

    pair.active.post(write);
    pair.active.post(read);
    pair.active.post(send);
    pair.run();

    assertThat(pair.active.host.sendsDone)
        .extracting(Done::toString)
        .containsExactly(
            "1 SUCCESS RDMA_WRITE " + length,
            "2 SUCCESS RDMA_READ " + length,
            "3 SUCCESS SEND " + length);
    assertThat(pair.passive.host.receivesDone)
        .extracting(Done::toString)
        .containsExactly("1 SUCCESS RECV " + length);
    assertThat(remote.bytes).isEqualTo(from.bytes);
    assertThat(sink.bytes).isEqualTo(from.bytes);
    assertThat(inbox.bytes).isEqualTo(from.bytes);
  }

  /** Another peer writes to the memory, or does atomics there: the answer may be torn. */
  @Test
  void answersAReadOfMemoryThatIsChangedBeforeItsSocketTakesIt() {
    pair.start(true);
    pair.run();
    Region remote = StreamPair.filled(pair.passive.host.register(LARGE), 5);
    Region sink = pair.active.host.register(LARGE);
    pair.back.most = 100;
    pair.active.post(
        new SendWorkRequest(1)
            .id(1)
            .read(remote.address, remote.key)
            .buffer(sink.address, LARGE, sink.key));
    assertThat(pair.active.turn()).isTrue();
    assertThat(pair.passive.turn()).isTrue();
    assertThat(pair.passive.turn()).isTrue();

    remote.bytes[LARGE - 1]++;
    pair.run();

    assertThat(pair.active.host.sendsDone)
        .extracting(Done::toString)
        .containsExactly("1 SUCCESS RDMA_READ " + LARGE);
    assertOpen();
  }

  /** A peer may do so with the memory of a request, too. */
  @ParameterizedTest
  @EnumSource(
      value = SendOpcode.class,
      names = {"SEND", "RDMA_WRITE"})
  void carriesARequestWhoseMemoryIsChangedBeforeItsSocketTakesIt(SendOpcode opcode) {
    pair.start(true);
    pair.run();
    Region from = StreamPair.filled(pair.active.host.register(LARGE), 3);
    Region remote = pair.passive.host.register(LARGE);
    pair.passive.receive(1, remote, LARGE);
    pair.there.most = 100;
    SendWorkRequest request = new SendWorkRequest(1).id(1);
    pair.active.post(
        (opcode == SendOpcode.SEND ? request.send() : request.write(remote.address, remote.key))
            .buffer(from.address, LARGE, from.key));
    assertThat(pair.active.turn()).isTrue();

    from.bytes[LARGE - 1]++;
    pair.run();

    assertThat(remote.bytes[LARGE - 2]).isEqualTo(pattern(3, LARGE - 2));
    assertOpen();
  }

  /** As one that awaits the last byte of a WRITE, and clears it for the next. */
  @Test
  void takesAWriteToMemoryThatItsProgramChangesAtOnce() {
    pair.start(true);
    pair.run();
    Region from = StreamPair.filled(pair.active.host.register(LARGE), 3);
    Region remote = pair.passive.host.register(LARGE);
    pair.there.cutAt = pair.there.length() + 100;
    pair.there.afterRead = () -> remote.bytes[LARGE - 1] = 0;
    pair.active.post(
        new SendWorkRequest(1)
            .id(1)
            .write(remote.address, remote.key)
            .buffer(from.address, LARGE, from.key));

    pair.run();

    assertThat(remote.bytes[LARGE - 2]).isEqualTo(pattern(3, LARGE - 2));
    assertOpen();
  }

  private void assertOpen() {
    assertThat(pair.active.engine.state()).isEqualTo(State.OPEN);
    assertThat(pair.passive.engine.state()).isEqualTo(State.OPEN);
    assertThat(pair.passive.host.events).isEmpty();
  }

  @Test
  void completesEachRequestOnceWhereverTheStreamBreaks() {
    int end = lengthThere(true);
    for (int at = 0; at <= end; at++) {
      StreamPair one = new StreamPair().start(true);
      one.there.brokenAt = at;
      one.back.brokenAt = Math.max(1, at / 2);
      Program program = new Program(one);

      one.run();
      one.active.engine.lost();
      one.passive.engine.lost();

      assertThat(one.active.host.sendsDone).as("broken at %d", at).hasSize(6);
      assertThat(one.active.host.sendsDone.stream().map(Done::id))
          .containsExactly(1L, 2L, 3L, 4L, 5L, 6L);
      assertThat(one.passive.host.receivesDone.stream().map(Done::id)).containsExactly(1L, 2L, 3L);
      assertThat(program.remote.bytes[LARGE]).isEqualTo(pattern(5, LARGE));
    }
  }

  /** A changed byte is seen by the CRC at the latest: what succeeds is right. */
  @Test
  void deliversNothingWrongWhateverByteIsChanged() {
    int end = lengthThere(true);
    for (int at = 0; at < end; at++) {
      StreamPair one = new StreamPair().start(true);
      one.there.changedAt = at;
      Program program = new Program(one);

      one.run();
      one.active.engine.lost();
      one.passive.engine.lost();

      List<Done> received = one.passive.host.receivesDone;
      assertThat(received.stream().map(Done::id))
          .as("changed at %d", at)
          .containsExactly(1L, 2L, 3L);
      assertThat(received.get(2).status())
          .as("changed at %d", at)
          .isNotEqualTo(CompletionStatus.SUCCESS);
      assertThat(program.remote.bytes[2 * LARGE - 1]).isEqualTo(pattern(5, 2 * LARGE - 1));
    }
  }

  @Test
  void sendsNothingAsThePassiveEndBeforeTheFirstFpduHasCome() {
    pair.passive.engine.start(new StreamTerms(false, 4, 4, StreamTerms.Role.PASSIVE));
    Region from = pair.passive.host.register(8);
    pair.passive.post(new SendWorkRequest(1).id(1).send().buffer(from.address, 8, from.key));

    assertThat(pair.passive.turn()).isFalse();
    assertThat(pair.passive.engine.state()).isEqualTo(State.WAITING);
    assertThat(pair.back.length()).isZero();

    pair.active.engine.start(new StreamTerms(false, 4, 4, StreamTerms.Role.ACTIVE_WRITES_FIRST));
    pair.active.receive(9, pair.active.host.register(8), 8);
    pair.run();

    assertThat(pair.passive.engine.state()).isEqualTo(State.OPEN);
    assertThat(pair.active.host.receivesDone).extracting(Done::id).containsExactly(9L);
  }

  /** Both answers come at once: the message between them has long been sent. */
  @Test
  void takesTheAnswersOfReadsAroundAMessage() {
    pair.start(true);
    Region sink = pair.active.host.register(8);
    Region remote = pair.passive.host.register(8);
    pair.passive.receive(9, pair.passive.host.register(8), 8);
    pair.active.post(read(1, remote, sink));
    pair.active.post(new SendWorkRequest(1).id(2).send().buffer(sink.address, 8, sink.key));
    pair.active.post(read(3, remote, sink));

    pair.run();

    assertThat(pair.active.host.sendsDone).extracting(Done::id).containsExactly(1L, 2L, 3L);
    assertThat(pair.active.host.sendsDone)
        .extracting(Done::status)
        .containsOnly(CompletionStatus.SUCCESS);
  }

  private static SendWorkRequest read(long id, Region from, Region into) {
    return new SendWorkRequest(1)
        .id(id)
        .read(from.address, from.key)
        .buffer(into.address, 8, into.key);
  }

  @Test
  void endsAStreamWithoutAReceive() {
    pair.start(true);
    Region from = pair.active.host.register(8);
    pair.active.post(new SendWorkRequest(1).id(1).send().buffer(from.address, 8, from.key));

    pair.run();

    assertEnded(TerminateCause.UNTAGGED_NO_BUFFER);
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
    pair.active.post(new SendWorkRequest(1).id(1).send().buffer(from.address, 8, from.key));

    pair.run();

    assertEnded(TerminateCause.UNTAGGED_TOO_LONG);
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

    assertEnded(TerminateCause.TAGGED_INVALID_TAG);
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

    assertEnded(TerminateCause.REMOTE_PROTECTION);
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
    pair.active.post(
        new SendWorkRequest(1)
            .id(1)
            .write(remote.address, remote.key)
            .buffer(from.address, 8, from.key));

    pair.run();

    assertEnded(TerminateCause.REMOTE_ACCESS);
    assertThat(pair.passive.host.events).containsExactly(AsyncEvent.Type.QP_REQ_ERR);
  }

  @Test
  void endsAStreamWithMoreReadsThanItServes() {
    pair.passive.engine.start(new StreamTerms(false, 1, 1, StreamTerms.Role.PASSIVE));
    pair.active.engine.start(new StreamTerms(false, 4, 4, StreamTerms.Role.ACTIVE_WRITES_FIRST));
    Region sink = pair.active.host.register(8);
    Region remote = pair.passive.host.register(8);
    for (int id = 1; id <= 3; id++) {
      pair.active.post(
          new SendWorkRequest(1)
              .id(id)
              .read(remote.address, remote.key)
              .buffer(sink.address, 8, sink.key));
    }

    pair.run();

    assertEnded(TerminateCause.STREAM_CATASTROPHE);
  }

  @Test
  void asksForNoMoreReadsThanThePeerServes() {
    pair.start(false, 2);
    Region sink = pair.active.host.register(8);
    Region remote = pair.passive.host.register(8);
    for (int id = 1; id <= 9; id++) {
      pair.active.post(
          new SendWorkRequest(1)
              .id(id)
              .read(remote.address, remote.key)
              .buffer(sink.address, 8, sink.key));
    }

    pair.run();

    assertThat(pair.active.engine.state()).isEqualTo(State.OPEN);
    assertThat(pair.active.host.sendsDone).hasSize(9);
  }

  @Test
  void failsARequestThatIsBadByItselfBehindThoseBeforeIt() {
    pair.start(false);
    Region sink = pair.active.host.register(8);
    Region remote = pair.passive.host.register(8);
    pair.active.post(
        new SendWorkRequest(1)
            .id(1)
            .read(remote.address, remote.key)
            .buffer(sink.address, 8, sink.key));
    pair.active.post(new SendWorkRequest(1).id(2).send().buffer(0x10, 8, 0x77));
    pair.active.post(new SendWorkRequest(1).id(3).send());

    pair.run();

    assertThat(pair.active.host.sendsDone)
        .extracting(Done::status)
        .containsExactly(
            CompletionStatus.SUCCESS, CompletionStatus.LOC_PROT_ERR, CompletionStatus.WR_FLUSH_ERR);
    assertThat(pair.passive.engine.peersCause()).isEqualTo(TerminateCause.LOCAL);
  }

  /** The fault is found where the TERMINATE is added. */
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

  /** Likewise. */
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

    assertEnded(TerminateCause.REMOTE_PROTECTION);
  }

  /** A socket may have taken any part of a segment when the peer's fault is found. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void tellsOfAFaultBehindTheRestOfASegment(boolean crc) {
    pair.start(crc);
    pair.run();
    Region from = StreamPair.filled(pair.active.host.register(LARGE), 3);
    Region inbox = pair.passive.host.register(LARGE);
    pair.passive.receive(1, inbox, LARGE);
    pair.there.most = 100;
    pair.active.post(new SendWorkRequest(1).id(1).send().buffer(from.address, LARGE, from.key));
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

  @Test
  void tellsThatAKeyHasDiedBeforeAnythingOfASegmentIsSent() {
    pair.start(false);
    pair.run();
    Region from = pair.active.host.register(LARGE);
    pair.there.most = 0;
    pair.active.post(new SendWorkRequest(1).id(1).send().buffer(from.address, LARGE, from.key));
    assertThat(pair.active.engine.send(pair.there)).isFalse();

    assertThat(pair.active.host.forget(from.key)).isTrue();
    pair.there.most = Integer.MAX_VALUE;
    pair.run();

    assertThat(pair.passive.engine.peersCause()).isEqualTo(TerminateCause.LOCAL);
    assertThat(pair.active.host.sendsDone)
        .extracting(Done::status)
        .containsExactly(CompletionStatus.WR_FLUSH_ERR);
  }

  @Test
  void readsNoMemoryOfAKeyThatDiedWhileItsBytesWaited() {
    pair.start(false);
    pair.run();
    Region from = StreamPair.filled(pair.active.host.register(LARGE), 3);
    Region remote = pair.passive.host.register(LARGE);
    pair.there.most = 100;
    pair.active.post(
        new SendWorkRequest(1)
            .id(1)
            .write(remote.address, remote.key)
            .buffer(from.address, LARGE, from.key));
    assertThat(pair.active.turn()).isTrue();

    assertThat(pair.active.host.forget(from.key)).isTrue();
    pair.run();

    assertThat(pair.active.engine.state()).isEqualTo(State.ENDED);
    assertThat(pair.active.host.sendsDone)
        .extracting(Done::status)
        .containsExactly(CompletionStatus.WR_FLUSH_ERR);
    assertThat(remote.bytes[LARGE - 1]).isZero();
  }

  /**
   * Without that nobody would have the TERMINATE sent, and the bytes that wait would wake for ever.
   */
  @Test
  void tellsThatItEndsWhereAKeyHasDiedBeforeTheRestIsRead() {
    pair.start(false);
    pair.run();
    Region from = pair.active.host.register(LARGE);
    Region remote = pair.passive.host.register(LARGE);
    pair.there.most = 100;
    pair.active.post(
        new SendWorkRequest(1)
            .id(1)
            .write(remote.address, remote.key)
            .buffer(from.address, LARGE, from.key));
    assertThat(pair.active.turn()).isTrue();
    assertThat(pair.passive.turn()).isTrue();

    assertThat(pair.passive.host.forget(remote.key)).isTrue();
    assertThat(pair.active.turn()).isTrue();

    assertThat(pair.passive.engine.receive(pair.there)).as("there is something to do").isTrue();
    assertThat(pair.passive.engine.state()).isEqualTo(State.ENDING);
    pair.run();
    assertEnded(TerminateCause.TAGGED_INVALID_TAG);
  }

  /** A queue pair that goes to ERR may be served, as one with posts to flush, before it ends. */
  @Test
  void placesNothingOfAMessageOnceItsReceiveIsFlushed() {
    pair.start(false);
    pair.run();
    Region from = StreamPair.filled(pair.active.host.register(LARGE), 3);
    Region inbox = pair.passive.host.register(LARGE);
    pair.passive.receive(1, inbox, LARGE);
    pair.passive.receive(2, inbox, LARGE);
    pair.there.cutAt = pair.there.length() + 1000;
    pair.active.post(new SendWorkRequest(1).id(1).send().buffer(from.address, LARGE, from.key));
    assertThat(pair.active.turn()).isTrue();
    assertThat(pair.passive.engine.receive(pair.there)).isTrue();
    assertThat(inbox.bytes[0]).isEqualTo(pattern(3, 0));

    pair.passive.engine.flush();
    Arrays.fill(inbox.bytes, OTHERS);
    pair.run();

    assertThat(pair.passive.engine.state()).isEqualTo(State.ENDED);
    assertThat(pair.passive.host.receivesDone)
        .extracting(Done::toString)
        .containsExactly("1 WR_FLUSH_ERR", "2 WR_FLUSH_ERR");
    assertThat(inbox.bytes).containsOnly(OTHERS);
  }

  @Test
  void placesNothingOfAnAnswerOnceItsReadIsFlushed() {
    pair.start(false);
    pair.run();
    Region remote = StreamPair.filled(pair.passive.host.register(LARGE), 5);
    Region sink = pair.active.host.register(LARGE);
    pair.back.cutAt = pair.back.length() + 1000;
    pair.active.post(
        new SendWorkRequest(1)
            .id(1)
            .read(remote.address, remote.key)
            .buffer(sink.address, LARGE, sink.key));
    assertThat(pair.active.turn()).isTrue();
    assertThat(pair.passive.turn()).isTrue();
    assertThat(pair.passive.turn()).isTrue();
    assertThat(pair.active.engine.receive(pair.back)).isTrue();
    assertThat(sink.bytes[0]).isEqualTo(pattern(5, 0));

    pair.active.engine.flush();
    Arrays.fill(sink.bytes, OTHERS);
    pair.run();
    pair.active.post(new SendWorkRequest(1).id(2).send());
    pair.active.engine.flush();

    assertThat(pair.active.host.sendsDone)
        .extracting(Done::toString)
        .containsExactly("1 WR_FLUSH_ERR", "2 WR_FLUSH_ERR");
    assertThat(sink.bytes).containsOnly(OTHERS);
  }

  /** Its socket has taken a part of it, and takes bytes again. */
  @Test
  void sendsNothingOfARequestOnceItIsFlushed() {
    pair.start(false);
    pair.run();
    Region from = pair.active.host.register(LARGE);
    pair.there.most = 100;
    pair.active.post(new SendWorkRequest(1).id(1).send().buffer(from.address, LARGE, from.key));
    assertThat(pair.active.turn()).isTrue();
    int sent = pair.there.length();

    pair.active.engine.writable();
    pair.active.engine.flush();
    boolean more = pair.active.engine.send(pair.there);

    assertThat(more).isFalse();
    assertThat(pair.there.length()).isEqualTo(sent);
    assertThat(pair.active.engine.state()).isEqualTo(State.ENDED);
    assertThat(pair.active.host.sendsDone)
        .extracting(Done::toString)
        .containsExactly("1 WR_FLUSH_ERR");
  }

  @Test
  void startsAnewAfterAReset() {
    pair.start(true);
    Program program = new Program(pair);
    pair.run();
    assertCarried(pair, program);

    pair.active.engine.reset();
    pair.passive.engine.reset();
    pair.start(true);
    Region from = pair.active.host.register(8);
    pair.passive.receive(7, pair.passive.host.register(8), 8);
    pair.active.post(new SendWorkRequest(1).id(8).send().buffer(from.address, 8, from.key));
    pair.run();

    assertThat(pair.passive.host.receivesDone).extracting(Done::id).contains(7L);
  }

  private void assertEnded(TerminateCause cause) {
    assertThat(pair.active.engine.peersCause()).isEqualTo(cause);
    assertThat(pair.active.engine.state()).isEqualTo(State.ENDED);
    assertThat(pair.passive.engine.state()).isEqualTo(State.ENDED);
    assertThat(pair.active.host.moves).containsExactly(QueuePairState.ERR);
    assertThat(pair.passive.host.moves).containsExactly(QueuePairState.ERR);
  }

  private static int lengthThere(boolean crc) {
    StreamPair one = new StreamPair().start(crc);
    Program unused = new Program(one);
    one.run();
    return one.there.length();
  }

  private static void assertCarried(StreamPair pair, Program program) {
    assertThat(pair.active.host.sendsDone)
        .extracting(Done::toString)
        .containsExactly(
            "1 SUCCESS SEND 5",
            "2 SUCCESS RDMA_WRITE " + LARGE,
            "3 SUCCESS RDMA_READ " + LARGE,
            "4 SUCCESS RDMA_WRITE 0",
            "5 SUCCESS SEND 1201",
            "6 SUCCESS SEND 3");
    assertThat(pair.passive.host.receivesDone)
        .extracting(Done::toString)
        .containsExactly("1 SUCCESS RECV 5", "2 SUCCESS RECV 1201", "3 SUCCESS RECV 3");
    assertThat(pair.passive.host.receivesDone)
        .extracting(Done::solicited)
        .containsExactly(false, true, false);
    assertThat(pair.passive.host.receivesDone.get(2).immediate()).isEqualTo(program.killed.key);
    assertThat(pair.passive.host.find(program.killed.key)).isNull();
    for (int i = 0; i < LARGE; i++) {
      if (program.remote.bytes[i] != pattern(3, i)
          || program.sink.bytes[i < LARGE - 7 ? i : i + 7] != pattern(3, i)
          || (i < 1201 && program.inbox.bytes[i] != pattern(3, i))) {
        throw new AssertionError("byte " + i + " differs");
      }
    }
    assertThat(pair.active.engine.state()).isEqualTo(State.OPEN);
  }
}
