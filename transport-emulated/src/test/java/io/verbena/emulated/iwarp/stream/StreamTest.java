// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.stream;

import static io.verbena.emulated.iwarp.stream.StreamPair.LARGE;
import static io.verbena.emulated.iwarp.stream.StreamPair.pattern;
import static io.verbena.emulated.iwarp.stream.StreamPair.read;
import static io.verbena.emulated.iwarp.stream.StreamPair.send;
import static io.verbena.emulated.iwarp.stream.StreamPair.write;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.engine.TestHost.Done;
import io.verbena.emulated.engine.TestHost.Region;
import io.verbena.emulated.iwarp.stream.StreamEngine.State;
import io.verbena.emulated.iwarp.stream.StreamPair.Program;
import io.verbena.emulated.iwarp.stream.StreamTerms.Role;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.SendWorkRequest;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Two iWARP engines over a stream that is cut, broken or changed at any byte. */
@Tag("once")
class StreamTest {
  private final StreamPair pair = new StreamPair();

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void carriesEachKindOfRequest(boolean crc) {
    pair.start(crc);
    Program program = new Program(pair);

    pair.run();

    program.assertCarried();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void carriesThemHoweverTheStreamIsCut(boolean crc) {
    int end = StreamPair.lengthThere(crc);
    for (int cut = 1; cut < end; cut++) {
      StreamPair one = new StreamPair().start(crc);
      one.there.cutAt = cut;
      one.back.cutAt = cut;
      Program program = new Program(one);

      one.run();

      program.assertCarried();
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

    program.assertCarried();
  }

  /** The message needs several FPDUs and has two buffers at each end. */
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

  @Test
  void completesEachRequestOnceWhereverTheStreamBreaks() {
    int end = StreamPair.lengthThere(true);
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

  /** The CRC reveals a changed byte at the latest: requests that succeed are right. */
  @Test
  void deliversNothingWrongWhateverByteIsChanged() {
    int end = StreamPair.lengthThere(true);
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
    pair.passive.engine.start(new StreamTerms(false, 4, 4, Role.PASSIVE));
    Region from = pair.passive.host.register(8);
    pair.passive.post(send(1, from));

    assertThat(pair.passive.turn()).isFalse();
    assertThat(pair.passive.engine.state()).isEqualTo(State.WAITING);
    assertThat(pair.back.length()).isZero();

    pair.active.engine.start(new StreamTerms(false, 4, 4, Role.ACTIVE_WRITES_FIRST));
    pair.active.receive(9, pair.active.host.register(8), 8);
    pair.run();

    assertThat(pair.passive.engine.state()).isEqualTo(State.OPEN);
    assertThat(pair.active.host.receivesDone).extracting(Done::id).containsExactly(9L);
  }

  /** The message between the READs has long been sent when both responses arrive. */
  @Test
  void takesTheAnswersOfReadsAroundAMessage() {
    pair.start(true);
    Region sink = pair.active.host.register(8);
    Region remote = pair.passive.host.register(8);
    pair.passive.receive(9, pair.passive.host.register(8), 8);
    pair.active.post(read(1, remote, sink));
    pair.active.post(send(2, sink));
    pair.active.post(read(3, remote, sink));

    pair.run();

    assertThat(pair.active.host.sendsDone).extracting(Done::id).containsExactly(1L, 2L, 3L);
    assertThat(pair.active.host.sendsDone)
        .extracting(Done::status)
        .containsOnly(CompletionStatus.SUCCESS);
  }

  @Test
  void asksForNoMoreReadsThanThePeerServes() {
    pair.start(false, 2);
    Region sink = pair.active.host.register(8);
    Region remote = pair.passive.host.register(8);
    for (int id = 1; id <= 9; id++) {
      pair.active.post(read(id, remote, sink));
    }

    pair.run();

    assertThat(pair.active.engine.state()).isEqualTo(State.OPEN);
    assertThat(pair.active.host.sendsDone).hasSize(9);
  }

  @Test
  void startsAnewAfterAReset() {
    pair.start(true);
    Program program = new Program(pair);
    pair.run();
    program.assertCarried();

    pair.active.engine.reset();
    pair.passive.engine.reset();
    pair.start(true);
    Region from = pair.active.host.register(8);
    pair.passive.receive(7, pair.passive.host.register(8), 8);
    pair.active.post(send(8, from));
    pair.run();

    assertThat(pair.passive.host.receivesDone).extracting(Done::id).contains(7L);
  }
}
