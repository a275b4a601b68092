package io.verbena.emulated.sanitized;

import static io.verbena.emulated.sanitizer.Finding.Kind.RECEIVE_BUFFER_READ;
import static io.verbena.emulated.sanitizer.Finding.Kind.RECEIVE_BUFFER_WRITTEN;
import static io.verbena.emulated.sanitizer.Finding.Kind.SEND_BUFFER_CHANGED;
import static io.verbena.verbs.Access.LOCAL_WRITE;
import static org.assertj.core.api.Assertions.assertThat;

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
}
