// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitized;

import static io.verbena.emulated.sanitizer.Finding.Kind.RECEIVE_BUFFER_READ;
import static io.verbena.emulated.sanitizer.Finding.Kind.RECEIVE_BUFFER_WRITTEN;
import static io.verbena.emulated.sanitizer.Finding.Kind.SEND_BUFFER_CHANGED;
import static io.verbena.verbs.Access.LOCAL_WRITE;
import static io.verbena.verbs.Access.REMOTE_ATOMIC;
import static io.verbena.verbs.Access.REMOTE_READ;
import static io.verbena.verbs.Access.REMOTE_WRITE;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import org.junit.jupiter.api.Test;

/** Buffers belong to the HCA from post to completion. */
class BufferProgramsTest extends ProgramTests {

  @Test
  void findsASendBufferThatIsChangedTooEarly() {
    run(BufferProgramsTest::changesWhatItSends);
    assertFound(SEND_BUFFER_CHANGED, "changesWhatItSends");
  }

  private static void changesWhatItSends(End client, End server) {
    server.queuePair.postReceive(server.memory(32, LOCAL_WRITE).receive(1));
    Memory message = client.memory(32).fill(1);
    client.queuePair.postSend(message.send(2).signaled());
    message.fill(9);
    End.take(client.sends);
    End.take(server.receives);
  }

  @Test
  void findsAnUnsignaledSendsBufferThatIsChangedTooEarly() {
    run(BufferProgramsTest::changesWhatItSendsUnsignaled);
    assertFound(SEND_BUFFER_CHANGED, "changesWhatItSendsUnsignaled");
  }

  private static void changesWhatItSendsUnsignaled(End client, End server) {
    server.queuePair.postReceive(server.memory(32, LOCAL_WRITE).receive(1));
    server.queuePair.postReceive(server.memory(32, LOCAL_WRITE).receive(1));
    Memory message = client.memory(32).fill(1);
    client.queuePair.postSend(message.send(2));
    message.fill(9);
    sendsAnother(client);
    End.take(client.sends);
    End.take(server.receives);
    End.take(server.receives);
  }

  private static void sendsAnother(End client) {
    client.queuePair.postSend(client.memory(32).send(3).signaled());
  }

  @Test
  void isSilentWhereASendBufferIsChangedAfterItsCompletion() {
    run(
        (client, server) -> {
          server.queuePair.postReceive(server.memory(32, LOCAL_WRITE).receive(1));
          Memory message = client.memory(32).fill(1);
          client.queuePair.postSend(message.send(2).signaled());
          End.take(client.sends);
          message.fill(9);
          End.take(server.receives);
        });
    assertSilent();
  }

  @Test
  void findsAReceiveBufferThatTheProgramWritesTo() {
    run(BufferProgramsTest::writesToAPostedReceive);
    assertFound(RECEIVE_BUFFER_WRITTEN, "writesToAPostedReceive");
  }

  private static void writesToAPostedReceive(End client, End server) {
    Memory into = server.memory(32, LOCAL_WRITE);
    server.queuePair.postReceive(into.receive(1));
    into.bytes().put(31, (byte) 1);
    client.queuePair.postSend(client.memory(16).fill(1).send(2).signaled());
    End.take(client.sends);
    End.take(server.receives);
  }

  @Test
  void failsAProgramThatReadsAReceiveBufferTooEarlyAndFindsWhatItSendsOn() {
    run(BufferProgramsTest::echoesTooEarly);
    assertFound(RECEIVE_BUFFER_READ, "echoesTooEarly");
  }

  private static void echoesTooEarly(End client, End server) {
    Memory into = server.memory(64, LOCAL_WRITE);
    Memory answer = server.memory(64);
    Memory back = client.memory(64, LOCAL_WRITE);
    client.queuePair.postReceive(back.receive(0));
    server.queuePair.postReceive(into.receive(1));
    Memory question = client.memory(64).fill(1);
    client.queuePair.postSend(question.send(2).signaled());
    End.take(client.sends);

    answer.bytes().put(0, into.bytes(), 0, 64);
    assertThat(answer.bytes().mismatch(question.bytes())).as("first wrong byte").isEqualTo(0);
    server.queuePair.postSend(answer.send(3).signaled());

    End.take(server.receives);
    assertThat(into.bytes()).isEqualTo(question.bytes());
    End.take(server.sends);
    End.take(client.receives);
  }

  @Test
  void isSilentWhereAReceiveBufferIsReadAndUsedAgainAfterItsCompletion() {
    run(
        (client, server) -> {
          Memory into = server.memory(64, LOCAL_WRITE).fill(5);
          Memory back = client.memory(64, LOCAL_WRITE);
          client.queuePair.postReceive(back.receive(0));
          server.queuePair.postReceive(into.receive(1));
          Memory question = client.memory(48).fill(1);
          client.queuePair.postSend(question.send(2).signaled());
          End.take(client.sends);

          WorkCompletion received = End.take(server.receives);
          assertThat(received.workRequestId()).isEqualTo(1);
          assertThat(received.byteLength()).isEqualTo(48);
          assertThat(into.bytes().slice(0, 48)).isEqualTo(question.bytes());
          assertThat(into.bytes().get(48)).as("behind the message").isEqualTo((byte) (5 + 48));

          server.queuePair.postSend(into.send(3).signaled());
          End.take(server.sends);
          End.take(client.receives);
          assertThat(back.bytes()).isEqualTo(into.bytes());
        });
    assertSilent();
  }

  @Test
  void isSilentWhereOneBufferIsSentAndPostedForTheAnswer() {
    run(
        (client, server) -> {
          Memory ball = client.memory(64, LOCAL_WRITE).fill(1);
          Memory theirs = server.memory(64, LOCAL_WRITE);
          server.queuePair.postReceive(theirs.receive(1));
          client.queuePair.postReceive(ball.receive(2));
          client.queuePair.postSend(ball.send(3).signaled());
          End.take(server.receives);
          assertThat(theirs.bytes().get(1)).isEqualTo((byte) 2);
          server.queuePair.postSend(theirs.fill(7).send(4).signaled());
          End.take(client.receives);
          End.take(client.sends);
          End.take(server.sends);
          assertThat(ball.bytes()).isEqualTo(theirs.bytes());
        });
    assertSilent();
  }

  @Test
  void keepsWhatAProgramWritesOverAPostedReceiveToSendItFromThere() {
    run(
        (client, server) -> {
          Memory ball = client.memory(64, LOCAL_WRITE).fill(1);
          Memory theirs = server.memory(64, LOCAL_WRITE);
          for (int i = 0; i < 256; i++) {
            server.queuePair.postReceive(theirs.receive(1));
            client.queuePair.postReceive(ball.receive(2));
            ball.bytes().putLong(8, i);
            client.queuePair.postSend(ball.send(3).signaled());
            End.take(server.receives);
            assertThat(theirs.bytes().getLong(8)).isEqualTo(i);
            assertThat(theirs.bytes().get(16)).isEqualTo((byte) 17);
            server.queuePair.postSend(theirs.send(4).signaled());
            End.take(client.receives);
            End.take(client.sends);
            End.take(server.sends);
          }
        });
    assertSilent();
  }

  @Test
  void findsATargetOfAReadThatTheProgramWritesTo() {
    run(BufferProgramsTest::writesToWhereItReads);
    assertFound(RECEIVE_BUFFER_WRITTEN, "writesToWhereItReads");
  }

  private static void writesToWhereItReads(End client, End server) {
    Memory into = client.memory(32, LOCAL_WRITE);
    client.queuePair.postSend(into.read(1, server.memory(32, REMOTE_READ).fill(1)).signaled());
    into.bytes().put(31, (byte) 1);
    End.take(client.sends);
  }

  @Test
  void findsATargetOfAnAtomicThatTheProgramWritesTo() {
    run(BufferProgramsTest::writesToWhereItFetches);
    assertFound(RECEIVE_BUFFER_WRITTEN, "writesToWhereItFetches");
  }

  private static void writesToWhereItFetches(End client, End server) {
    Memory into = client.memory(8, LOCAL_WRITE);
    Memory counter = server.memory(8, LOCAL_WRITE, REMOTE_ATOMIC);
    client.queuePair.postSend(into.fetchAndAdd(1, counter).signaled());
    into.bytes().putLong(0, 7);
    End.take(client.sends);
  }

  @Test
  void failsAProgramThatUsesWhatItReadsTooEarlyAndFindsWhatItSendsOn() {
    run(BufferProgramsTest::passesOnTooEarly);
    assertFound(RECEIVE_BUFFER_READ, "passesOnTooEarly");
  }

  private static void passesOnTooEarly(End client, End server) {
    Memory source = server.memory(64, REMOTE_READ).fill(1);
    Memory into = client.memory(64, LOCAL_WRITE);
    Memory message = client.memory(64);
    server.queuePair.postReceive(server.memory(64, LOCAL_WRITE).receive(0));
    client.queuePair.postSend(into.read(1, source));

    message.bytes().put(0, into.bytes(), 0, 64);
    assertThat(message.bytes().mismatch(source.bytes())).as("first wrong byte").isEqualTo(0);
    client.queuePair.postSend(message.send(2).signaled());

    End.take(client.sends);
    assertThat(into.bytes()).isEqualTo(source.bytes());
    End.take(server.receives);
  }

  @Test
  void isSilentWhereTargetsAreUsedAfterTheirCompletions() {
    run(
        (client, server) -> {
          Memory source = server.memory(64, REMOTE_READ).fill(1);
          Memory counter = server.memory(8, LOCAL_WRITE, REMOTE_ATOMIC).fill(3);
          Memory into = client.memory(64, LOCAL_WRITE);
          Memory fetched = client.memory(8, LOCAL_WRITE);
          server.queuePair.postReceive(server.memory(64, LOCAL_WRITE).receive(0));
          long before = counter.bytes().getLong(0);

          client.queuePair.postSend(into.read(1, source));
          client.queuePair.postSend(fetched.fetchAndAdd(2, counter).signaled());
          End.take(client.sends);

          assertThat(into.bytes()).isEqualTo(source.bytes());
          assertThat(fetched.bytes().getLong(0)).isEqualTo(before);
          into.fill(9);
          client.queuePair.postSend(into.send(3).signaled());
          End.take(client.sends);
          End.take(server.receives);
        });
    assertSilent();
  }

  @Test
  void isSilentWhereAFencedSendPassesOnWhatAReadBrings() {
    run(
        (client, server) -> {
          Memory source = server.memory(32, REMOTE_READ).fill(1);
          Memory there = server.memory(64, LOCAL_WRITE);
          Memory here = client.memory(64, LOCAL_WRITE).fill(100);
          server.queuePair.postReceive(there.receive(1));

          SendWorkRequest read = new SendWorkRequest().id(2);
          read.read(source.region().address(), source.region().rkey())
              .buffer(here.region().address() + 16, 32, here.region().lkey());
          client.queuePair.postSend(read);
          client.queuePair.postSend(here.send(3).fence().signaled());
          End.take(client.sends);
          End.take(server.receives);

          assertThat(there.bytes()).isEqualTo(here.bytes());
          assertThat(there.bytes().get(15)).isEqualTo((byte) 115);
          assertThat(there.bytes().slice(16, 32)).isEqualTo(source.bytes());
          assertThat(there.bytes().get(48)).isEqualTo((byte) 148);
        });
    assertSilent();
  }

  @Test
  void keepsWhatWasThereWhenAReadFails() {
    run(
        (client, server) -> {
          Memory here = client.memory(32, LOCAL_WRITE).fill(1);
          Memory unreadable = server.memory(32, LOCAL_WRITE, REMOTE_WRITE);
          client.queuePair.postSend(here.write(1, unreadable).signaled());
          End.take(client.sends);

          client.queuePair.postSend(here.read(2, unreadable).signaled());

          assertThat(End.take(client.sends).isSuccess()).isFalse();
          assertThat(here.bytes().get(31)).isEqualTo((byte) 32);
        });
    assertSilent();
  }
}
