// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.verbena.verbs.Access;
import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.PostException;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.WorkCompletion;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests connections between two devices of different kinds in one process. */
@Tag(FakeRdmaCore.TAG)
final class TwoDevicesTest {
  private static final String CONNECTX = "10.0.1.1";
  private static final String VIRTUAL_FUNCTION = "10.0.2.1";
  private static final int LENGTH = 8;
  private static final ConnectionParameters PARAMETERS =
      new ConnectionParameters(ByteBuffer.allocate(0), 1, 1, 7, 7);

  @BeforeAll
  static void needsTheFake() {
    FakeRdmaCore.assumeLoaded();
  }

  @Test
  void areListedAllHoweverFewAreExpected() {
    try (DisniDevice device = FakeRdmaCore.open(FakeRdmaCore.uri(CONNECTX + ":0"))) {
      List<String> all = DisniContext.deviceNames(device.core());

      assertThat(all).hasSizeGreaterThan(1);
      assertThat(DisniContext.deviceNames(device.core(), 1)).isEqualTo(all);
    }
  }

  /** A connection between two devices. */
  private static final class Link implements AutoCloseable {
    final FakeEnd client;
    final FakeEnd server;
    final ConnectionListener listener;

    Link(String from, String to) throws InterruptedException {
      client = new FakeEnd(from);
      server = new FakeEnd(to);
      listener = server.manager.listen(FakeRdmaCore.uri(to + ":0"), 1);
      var active = client.manager.resolve(peer(from, to, listener), FakeEnd.NANOS);
      client.take(client.expect(ConnectionEvent.Type.ADDR_RESOLVED));
      active.connect(PARAMETERS, FakeEnd.NANOS);
      server.take(server.expect(ConnectionEvent.Type.CONNECT_REQUEST)).accept(PARAMETERS);
      client.expect(ConnectionEvent.Type.ESTABLISHED);
      server.expect(ConnectionEvent.Type.ESTABLISHED);
    }

    /** Adds the source; without it, the device that has the address would connect to itself. */
    static URI peer(String from, String to, ConnectionListener listener) {
      return FakeRdmaCore.uri(to + ":" + listener.address().getPort() + "?source=" + from);
    }

    @Override
    public void close() {
      client.close();
      listener.close();
      server.close();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "10.0.1.1, mlx5_0, 10.0.2.1, mlx5_2",
    "10.0.2.1, mlx5_2, 10.0.1.1, mlx5_0",
    "10.0.1.1, mlx5_0, 10.0.5.1, bnxt_re0",
    "10.0.5.1, bnxt_re0, 10.0.1.1, mlx5_0",
    "10.0.6.1, irdma0, 10.0.13.1, mlx5_3", // to a second port
    "10.0.9.1, rxe0, 10.0.5.1, bnxt_re0",
    "10.0.7.1, siw0, 10.0.16.1, irdma1" // iWARP
  })
  void moveBytesBothWays(String from, String client, String to, String server) throws Exception {
    try (Link link = new Link(from, to)) {
      assertThat(link.client.name()).isEqualTo(client);
      assertThat(link.server.name()).isEqualTo(server);

      sendWriteAndRead(link.client, link.server, 1);
      sendWriteAndRead(link.server, link.client, 2);
    }
  }

  private static void sendWriteAndRead(FakeEnd from, FakeEnd to, long number) {
    from.bytes.putLong(0, number).putLong(8, number + 10).putLong(16, 0);
    to.bytes.putLong(0, 0).putLong(8, 0).putLong(24, number + 20);

    to.pair().postReceive(new ReceiveWorkRequest().buffer(to.at(0), LENGTH, to.memory.lkey()));
    post(from, new SendWorkRequest().send(), 0, CompletionOpcode.SEND);
    assertThat(done(to).opcode()).isEqualTo(CompletionOpcode.RECV);
    post(
        from,
        new SendWorkRequest().write(to.at(8), to.memory.rkey()),
        8,
        CompletionOpcode.RDMA_WRITE);
    post(
        from,
        new SendWorkRequest().read(to.at(24), to.memory.rkey()),
        16,
        CompletionOpcode.RDMA_READ);

    assertThat(to.bytes.getLong(0)).as("sent").isEqualTo(number);
    assertThat(to.bytes.getLong(8)).as("written").isEqualTo(number + 10);
    assertThat(from.bytes.getLong(16)).as("read").isEqualTo(number + 20);
  }

  private static void post(
      FakeEnd end, SendWorkRequest request, int offset, CompletionOpcode expected) {
    end.pair().postSend(request.buffer(end.at(offset), LENGTH, end.memory.lkey()).signaled());
    assertThat(done(end).opcode()).isEqualTo(expected);
  }

  private static WorkCompletion done(FakeEnd end) {
    WorkCompletion completion = end.complete();
    assertThat(completion.isSuccess()).as("%s", completion).isTrue();
    return completion;
  }

  @ParameterizedTest
  @CsvSource({"10.0.1.1, 10.0.2.1", "10.0.2.1, 10.0.1.1", "10.0.1.1, 10.0.5.1"})
  void haveTheRightToAtomicsAtTheEndAloneThatHasThem(String from, String to) throws Exception {
    try (Link link = new Link(from, to)) {
      for (FakeEnd end : Set.of(link.client, link.server)) {
        assertThat(end.pair().query().access().contains(Access.REMOTE_ATOMIC))
            .as(end.name())
            .isEqualTo(end.name().equals("mlx5_0"));
      }
    }
  }

  /** The peer's queue pair does not allow atomics and answers the NAK "invalid request". */
  @ParameterizedTest
  @CsvSource({VIRTUAL_FUNCTION, "10.0.5.1"})
  void tellsWhoAsksForAnAtomicThatThePeerHasNone(String to) throws Exception {
    try (Link link = new Link(CONNECTX, to)) {
      link.server.bytes.putLong(0, 5);

      link.client
          .pair()
          .postSend(
              new SendWorkRequest()
                  .fetchAndAdd(link.server.at(0), link.server.memory.rkey(), 1)
                  .buffer(link.client.at(8), LENGTH, link.client.memory.lkey())
                  .signaled());

      assertThat(link.client.complete().status()).isEqualTo(CompletionStatus.REM_INV_REQ_ERR);
      assertThat(link.server.bytes.getLong(0)).isEqualTo(5);
      assertThat(link.client.pair().query().state()).isEqualTo(QueuePairState.ERR);
      assertThat(link.server.device.awaitAsyncEvent(FakeEnd.NANOS))
          .isEqualTo(new AsyncEvent(AsyncEvent.Type.QP_REQ_ERR, link.server.pair()));
    }
  }

  @Test
  void refusesAtomicsAtTheEndThatHasNoneAndGoesOn() throws Exception {
    try (Link link = new Link(VIRTUAL_FUNCTION, CONNECTX)) {
      assertThatExceptionOfType(PostException.class)
          .isThrownBy(
              () ->
                  link.client
                      .pair()
                      .postSend(
                          new SendWorkRequest()
                              .fetchAndAdd(link.server.at(0), link.server.memory.rkey(), 1)
                              .buffer(link.client.at(8), LENGTH, link.client.memory.lkey())
                              .signaled()))
          .returns(VerbsError.NOT_SUPPORTED, PostException::error);

      sendWriteAndRead(link.client, link.server, 3);
    }
  }

  @ParameterizedTest
  @CsvSource({"10.0.1.1, 10.0.2.1", "10.0.2.1, 10.0.1.1", "10.0.1.1, 10.0.5.1"})
  void agreeOnNothingBeyondTheStandardWhereOneDriverKnowsNone(String from, String to)
      throws Exception {
    try (Link link = new Link(from, to)) {
      for (FakeEnd end : Set.of(link.client, link.server)) {
        assertThat(FakeRdmaCore.ece(((DisniQueuePair) end.pair()).pointer())).isZero();
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "10.0.1.1, 10.0.7.1, UNREACHABLE", // RoCE to iWARP
    "10.0.1.1, 10.0.4.1, UNREACHABLE", // RoCE to InfiniBand
    "10.0.7.1, 10.0.1.1, REJECTED"
  })
  void doNotMeetWhereTheyHaveNoProtocolInCommon(
      String from, String to, ConnectionEvent.Type expected) throws Exception {
    try (FakeEnd server = new FakeEnd(to);
        ConnectionListener listener = server.manager.listen(FakeRdmaCore.uri(to + ":0"), 1);
        FakeEnd client = new FakeEnd(from)) {
      var active = client.manager.resolve(Link.peer(from, to, listener), FakeEnd.NANOS);
      client.take(client.expect(ConnectionEvent.Type.ADDR_RESOLVED));

      active.connect(PARAMETERS, FakeEnd.NANOS);

      client.expect(expected);
      assertThat(server.manager.await(0)).isNull();
    }
  }
}
