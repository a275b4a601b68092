// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import static io.verbena.tck.Failures.expectFailure;
import static io.verbena.verbs.CompletionStatus.WR_FLUSH_ERR;
import static io.verbena.verbs.VerbsError.CLOSED;
import static io.verbena.verbs.VerbsError.INVALID;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.Access;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.DeviceAttributes;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairCapabilities;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairReading;
import io.verbena.verbs.QueuePairReading.Figure;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.QueuePairType;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Creating, querying and closing queue pairs. */
abstract class QueuePairTests extends VerbsTests {
  QueuePairTests(VerbsTck provider) {
    super(provider);
  }

  @Test
  void startsInReset() {
    Endpoint end = tck.setup().endpoint();

    assertThat(end.queuePair().state()).isEqualTo(QueuePairState.RESET);
    assertThat(end.queuePair().query().state()).isEqualTo(QueuePairState.RESET);
  }

  @Test
  void tellsWhatItWasMadeOf() {
    Endpoint end = tck.setup().endpoint();

    assertThat(end.queuePair().type()).isEqualTo(QueuePairType.RC);
    assertThat(end.queuePair().protectionDomain()).isSameAs(end.domain());
    assertThat(end.queuePair().sharedReceiveQueue()).isNull();
  }

  @Test
  void isGrantedAtLeastWhatWasAsked() {
    int scatterGather = Math.min(4, tck.attributes().maxScatterGather());
    int inline = Math.min(100, tck.attributes().maxInlineData());

    QueuePairCapabilities granted =
        tck.setup()
            .sends(17)
            .receives(33)
            .scatterGather(scatterGather, scatterGather)
            .inlineData(inline)
            .endpoint()
            .queuePair()
            .capabilities();

    assertThat(granted.maxSend()).isGreaterThanOrEqualTo(17);
    assertThat(granted.maxReceive()).isGreaterThanOrEqualTo(33);
    assertThat(granted.maxSendScatterGather()).isGreaterThanOrEqualTo(scatterGather);
    assertThat(granted.maxReceiveScatterGather()).isGreaterThanOrEqualTo(scatterGather);
    assertThat(granted.maxInlineData()).isGreaterThanOrEqualTo(inline);
  }

  @Test
  void refusesCapacitiesThatAreOutOfRange() {
    CompletionQueue queue = tck.own(tck.device().createCompletionQueue(4, null));
    ProtectionDomain domain = tck.domain();
    DeviceAttributes limits = tck.attributes();
    QueuePairOptions good = QueuePairOptions.reliable(queue, queue, 1, 1);
    Map<String, QueuePairOptions> bad = new LinkedHashMap<>();
    bad.put("-1 sends", QueuePairOptions.reliable(queue, queue, -1, 1));
    bad.put("-1 receives", QueuePairOptions.reliable(queue, queue, 1, -1));
    bad.put("-1 send buffers", good.withScatterGather(-1, 1));
    bad.put("-1 receive buffers", good.withScatterGather(1, -1));
    bad.put("-1 inline bytes", good.withInlineData(-1));
    int beyond = limits.maxWorkRequests() + 1;
    bad.put(beyond + " sends", QueuePairOptions.reliable(queue, queue, beyond, 1));
    bad.put(beyond + " receives", QueuePairOptions.reliable(queue, queue, 1, beyond));
    int wide = limits.maxScatterGather() + 1;
    bad.put(wide + " send buffers", good.withScatterGather(wide, 1));
    bad.put(wide + " receive buffers", good.withScatterGather(1, wide));
    if (limits.maxInlineData() > 0) {
      int large = limits.maxInlineData() + 1;
      bad.put(large + " inline bytes", good.withInlineData(large));
    }

    bad.forEach(
        (what, options) ->
            assertThat(expectFailure(INVALID, what, () -> tck.own(domain.createQueuePair(options))))
                .hasMessageContaining(what.substring(0, what.indexOf(' '))));
  }

  @Test
  void refusesACompletionQueueOfAnotherDevice() {
    ProtectionDomain domain = tck.domain();
    CompletionQueue own = tck.own(tck.device().createCompletionQueue(4, null));
    CompletionQueue foreign = tck.own(tck.serverDevice().createCompletionQueue(4, null));

    expectFailure(
        INVALID,
        () -> tck.own(domain.createQueuePair(QueuePairOptions.reliable(foreign, own, 1, 1))));
    expectFailure(
        INVALID,
        () -> tck.own(domain.createQueuePair(QueuePairOptions.reliable(own, foreign, 1, 1))));
  }

  @Test
  void hasANumberOf24BitsThatNoOtherHas() {
    Set<Integer> numbers = new HashSet<>();

    for (int i = 0; i < 16; i++) {
      int number = tck.setup().endpoint().queuePair().number();
      assertThat(number).isBetween(0, 0xff_ffff);
      numbers.add(number);
    }

    assertThat(numbers).hasSize(16);
  }

  @Test
  void answersTheAttributesThatItWasGiven() {
    Endpoint end = tck.setup().endpoint();
    QueuePair queuePair = end.queuePair();
    AddressVector vector = TransitionAttributes.wayTo(end.device());
    Set<Access> access = EnumSet.of(Access.REMOTE_READ);
    queuePair.modify(TransitionAttributes.toInit(end.device(), access));
    queuePair.modify(
        TransitionAttributes.toReadyToReceive(
                end.device(), end.device(), queuePair.number(), 0x12_3456)
            .maxDestinationReadAtomic(1)
            .minRnrTimer(9));
    queuePair.modify(
        TransitionAttributes.toReadyToSend(end.device(), 0x65_4321)
            .timeout(15)
            .retryCount(3)
            .rnrRetry(5)
            .maxReadAtomic(1));

    QueuePairAttributes attributes = queuePair.query();

    assertThat(attributes.state()).isEqualTo(QueuePairState.RTS);
    assertThat(attributes.access()).isEqualTo(access);
    assertThat(attributes.port()).isEqualTo(end.device().port().number());
    assertThat(attributes.pkeyIndex()).isZero();
    assertThat(attributes.pathMtu()).isEqualTo(end.device().port().activeMtu());
    assertThat(attributes.destinationQueuePair()).isEqualTo(queuePair.number());
    assertThat(attributes.addressVector()).isNotNull();
    assertThat(Objects.requireNonNull(attributes.addressVector()).destination())
        .isEqualTo(vector.destination());
    assertThat(attributes.receivePsn()).isEqualTo(0x12_3456);
    assertThat(attributes.sendPsn()).isEqualTo(0x65_4321);
    assertThat(attributes.maxDestinationReadAtomic()).isEqualTo(1);
    assertThat(attributes.maxReadAtomic()).isEqualTo(1);
    assertThat(attributes.minRnrTimer()).isEqualTo(9);
    assertThat(attributes.timeout()).isEqualTo(15);
    assertThat(attributes.retryCount()).isEqualTo(3);
    assertThat(attributes.rnrRetry()).isEqualTo(5);
  }

  @Test
  void tellsWhatItHasDoneAndHolds() {
    EndpointPair pair = tck.connected();
    Endpoint client = pair.client();
    Endpoint server = pair.server();
    TestMemory from = client.memory(8);
    TestMemory into = server.memory(8, Access.LOCAL_WRITE);
    for (int id = 1; id <= 4; id++) {
      server.post(Requests.receive(id, into));
    }
    for (int id = 1; id <= 3; id++) {
      client.post(Requests.send(id, from).signaled());
    }
    for (int id = 1; id <= 2; id++) {
      client.sent().expectSuccess(id, CompletionOpcode.SEND);
      server.received().expectSuccess(id, CompletionOpcode.RECV);
    }

    QueuePairReading sender = client.queuePair().reading();
    QueuePairReading receiver = server.queuePair().reading();

    assertThat(sender.number()).isEqualTo(client.queuePair().number());
    assertThat(sender.type()).isEqualTo(QueuePairType.RC);
    assertThat(sender.state()).isEqualTo(QueuePairState.RTS);
    assertThat(sender.peer()).isEqualTo(server.queuePair().number());
    expectFigure(sender, Figure.SENDS_POSTED, 3);
    expectFigure(sender, Figure.SENDS_DONE, 2);
    expectFigure(sender, Figure.SEND_QUEUE_SIZE, client.queuePair().capabilities().maxSend());
    expectFigure(sender, Figure.RECEIVES_POSTED, 0);
    expectFigure(sender, Figure.SEND_COMPLETIONS_SIZE, client.sent().queue().depth());
    expectFigure(sender, Figure.RNR_RECEIVED, 0);
    expectFigure(receiver, Figure.RECEIVES_POSTED, 4);
    expectFigure(receiver, Figure.RECEIVES_DONE, 2);
    expectFigure(receiver, Figure.SENDS_POSTED, 0);
    client.sent().expectSuccess(3, CompletionOpcode.SEND);
    server.received().expectSuccess(3, CompletionOpcode.RECV);
    expectFigure(client.queuePair().reading(), Figure.SENDS_DONE, 3);
    expectFigure(server.queuePair().reading(), Figure.RECEIVES_DONE, 3);
  }

  /** Asserts a figure of a reading; a provider omits figures that it does not know. */
  private static void expectFigure(QueuePairReading reading, Figure figure, long expected) {
    Long value = reading.figures().get(figure);
    if (value != null) {
      assertThat(value).as(figure.name()).isEqualTo(expected);
    }
  }

  @Test
  void isShownAsOpenUntilItIsClosed() {
    QueuePair queuePair = tck.setup().endpoint().queuePair();

    assertThat(ShownQueuePairs.all()).contains(queuePair);
    queuePair.close();

    assertThat(ShownQueuePairs.all()).doesNotContain(queuePair);
    assertThat(queuePair.reading().state()).isEqualTo(QueuePairState.RESET);
  }

  @Test
  void mayBeClosedTwice() {
    Endpoint end = tck.setup().endpoint();

    end.queuePair().close();
    end.queuePair().close();

    end.domain().close();
  }

  @Test
  void takesNothingOnceItIsClosed() {
    Endpoint end = tck.setup().endpointIn(QueuePairState.RTS);
    end.queuePair().close();

    expectFailure(CLOSED, () -> end.post(Requests.nothing(1)));
    expectFailure(CLOSED, () -> end.post(Requests.receive(1)));
    expectFailure(
        CLOSED, () -> end.queuePair().modify(TransitionAttributes.toState(QueuePairState.RESET)));
  }

  @Test
  void dropsWhatIsPendingWhenItIsClosed() {
    CompletionQueue queue = tck.own(tck.device().createCompletionQueue(16, null));
    ProtectionDomain domain = tck.domain();
    QueuePairOptions options = QueuePairOptions.reliable(queue, queue, 4, 4);
    QueuePair closed = tck.own(domain.createQueuePair(options));
    QueuePair other = tck.own(domain.createQueuePair(options));
    closed.modify(TransitionAttributes.toInit(tck.device(), Set.of()));
    other.modify(TransitionAttributes.toInit(tck.device(), Set.of()));
    closed.postReceive(Requests.receive(1));
    other.postReceive(Requests.receive(2));

    closed.close();
    other.modify(TransitionAttributes.toState(QueuePairState.ERR));

    CompletionPoller completions = new CompletionPoller(queue, "completion queue", tck);
    completions.expectError(2, WR_FLUSH_ERR);
    completions.expectNothing();
  }

  @Test
  void dropsWhatIsPendingWhenItIsReset() {
    Endpoint end = tck.setup().endpointIn(QueuePairState.INIT);
    end.post(Requests.receive(1));

    end.queuePair().modify(TransitionAttributes.toState(QueuePairState.RESET));
    end.queuePair().modify(TransitionAttributes.toInit(end.device(), Set.of()));
    end.post(Requests.receive(2));
    end.queuePair().modify(TransitionAttributes.toState(QueuePairState.ERR));

    end.received().expectError(2, WR_FLUSH_ERR);
    end.received().expectNothing();
  }
}
