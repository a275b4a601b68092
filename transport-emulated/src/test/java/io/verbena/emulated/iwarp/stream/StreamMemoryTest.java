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
import io.verbena.emulated.iwarp.stream.StreamEngine.State;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.SendOpcode;
import io.verbena.verbs.SendWorkRequest;
import java.util.Arrays;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Memory that is changed or given back while its bytes are on their way in an iWARP stream. */
@Tag("once")
class StreamMemoryTest {
  private final StreamPair pair = new StreamPair();

  /** Another peer writes to the memory, so the response may be torn. */
  @Test
  void answersAReadOfMemoryThatIsChangedBeforeItsSocketTakesIt() {
    pair.start(true);
    pair.run();
    Region remote = StreamPair.filled(pair.passive.host.register(LARGE), 5);
    Region sink = pair.active.host.register(LARGE);
    pair.back.most = 100;
    pair.active.post(read(1, remote, sink));
    assertThat(pair.active.turn()).isTrue();
    assertThat(pair.passive.turn()).isTrue();
    assertThat(pair.passive.turn()).isTrue();

    remote.bytes[LARGE - 1]++;
    pair.run();

    assertThat(pair.active.host.sendsDone)
        .extracting(Done::toString)
        .containsExactly("1 SUCCESS RDMA_READ " + LARGE);
    pair.assertOpen();
  }

  /** A peer may also write to the memory of a request. */
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
    pair.active.post(opcode == SendOpcode.SEND ? send(1, from) : write(1, from, remote));
    assertThat(pair.active.turn()).isTrue();

    from.bytes[LARGE - 1]++;
    pair.run();

    assertThat(remote.bytes[LARGE - 2]).isEqualTo(pattern(3, LARGE - 2));
    pair.assertOpen();
  }

  /** The program waits for the last byte of a WRITE and clears it for the next one. */
  @Test
  void takesAWriteToMemoryThatItsProgramChangesAtOnce() {
    pair.start(true);
    pair.run();
    Region from = StreamPair.filled(pair.active.host.register(LARGE), 3);
    Region remote = pair.passive.host.register(LARGE);
    pair.there.cutAt = pair.there.length() + 100;
    pair.there.afterRead = () -> remote.bytes[LARGE - 1] = 0;
    pair.active.post(write(1, from, remote));

    pair.run();

    assertThat(remote.bytes[LARGE - 2]).isEqualTo(pattern(3, LARGE - 2));
    pair.assertOpen();
  }

  @Test
  void readsNoMemoryOfAKeyThatDiedWhileItsBytesWaited() {
    pair.start(false);
    pair.run();
    Region from = StreamPair.filled(pair.active.host.register(LARGE), 3);
    Region remote = pair.passive.host.register(LARGE);
    pair.there.most = 100;
    pair.active.post(write(1, from, remote));
    assertThat(pair.active.turn()).isTrue();

    assertThat(pair.active.host.forget(from.key)).isTrue();
    pair.run();

    assertThat(pair.active.engine.state()).isEqualTo(State.ENDED);
    assertThat(pair.active.host.sendsDone)
        .extracting(Done::status)
        .containsExactly(CompletionStatus.WR_FLUSH_ERR);
    assertThat(remote.bytes[LARGE - 1]).isZero();
  }

  /** An engine in ERR may still run before the stream ends, as with posts to flush. */
  @Test
  void placesNothingOfAMessageOnceItsReceiveIsFlushed() {
    pair.start(false);
    pair.run();
    Region from = StreamPair.filled(pair.active.host.register(LARGE), 3);
    Region inbox = pair.passive.host.register(LARGE);
    pair.passive.receive(1, inbox, LARGE);
    pair.passive.receive(2, inbox, LARGE);
    pair.there.cutAt = pair.there.length() + 1000;
    pair.active.post(send(1, from));
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
    pair.active.post(read(1, remote, sink));
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

  /** The socket has taken a part of the request and accepts bytes again. */
  @Test
  void sendsNothingOfARequestOnceItIsFlushed() {
    pair.start(false);
    pair.run();
    Region from = pair.active.host.register(LARGE);
    pair.there.most = 100;
    pair.active.post(send(1, from));
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
}
