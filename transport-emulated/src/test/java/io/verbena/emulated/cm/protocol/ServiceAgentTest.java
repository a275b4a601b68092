// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.cm.protocol.CmMessage.ServiceReply;
import io.verbena.emulated.cm.protocol.CmMessage.ServiceRequest;
import io.verbena.emulated.wire.UdpGid;
import io.verbena.verbs.ConnectionEvent;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Two agents exchange requests for datagram services over a network that loses messages. */
class ServiceAgentTest {
  private static final long SERVICE = ServiceId.of(ServiceId.UDP, 7);
  private static final long PATIENCE = 20_000 * Network.MILLI;
  private static final int RUNS = 300;
  private static final int PAIR = 200;
  private static final int KEY = 0x0123_4567;

  /** A program at one end, which records its events. */
  private static final class Program implements ServiceUser, ServiceListener {
    final Network network;
    final List<String> told = new ArrayList<>();
    final List<ServiceResolution> asked = new ArrayList<>();
    ServiceReply answer = reply(ServiceReply.NAMED);
    boolean full;
    long thinks;

    Program(Network network) {
      this.network = network;
    }

    @Override
    public boolean asked(ServiceResolution resolution, ServiceRequest request) {
      if (full) {
        return false;
      }
      asked.add(resolution);
      assertThat(request.privateData()).isEqualTo(data("which?", Mad.SERVICE_REQUEST_DATA));
      network.time.schedule(thinks * Network.MILLI, () -> resolution.answer(answer));
      return true;
    }

    @Override
    public void answered(ServiceReply reply) {
      assertThat(reply.privateData()).isEqualTo(answer.privateData());
      assertThat(reply.serviceId()).isEqualTo(SERVICE);
      told.add(reply.status() + " " + reply.queuePair() + " " + reply.queueKey());
    }

    @Override
    public void unreachable(int why) {
      told.add(why == ConnectionEvent.NO_HCA ? "no HCA" : "unreachable");
    }
  }

  private final Network clean = new Network(1, 0);
  private final Network.End a = clean.end();
  private final Network.End b = clean.end();
  private final Program active = new Program(clean);
  private final Program passive = new Program(clean);

  private static ByteBuffer data(String text, int length) {
    return Mad.padded(ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII)), length);
  }

  private static ServiceReply reply(int status) {
    boolean named = status == ServiceReply.NAMED;
    String text = named ? "this" : status == ServiceReply.REJECTED ? "none" : "";
    return new ServiceReply(
        0, 0, status, named ? PAIR : 0, 0, named ? KEY : 0, data(text, Mad.SERVICE_REPLY_DATA));
  }

  private static String named() {
    return ServiceReply.NAMED + " " + PAIR + " " + KEY;
  }

  private static ServiceResolution ask(Network.End from, Network.End to, Program program) {
    return ask(from, to, program, PATIENCE);
  }

  private static ServiceResolution ask(
      Network.End from, Network.End to, Program program, long patience) {
    ByteBuffer data = data("which?", Mad.SERVICE_REQUEST_DATA);
    return from.agent
        .services()
        .ask(to.gid(), new ServiceRequest(0, 0, 0xffff, SERVICE, data), patience, program);
  }

  private static int known(Network.End one, Network.End other) {
    return one.agent.services().known() + other.agent.services().known();
  }

  @Test
  void asksAndAnswersOnceWhateverTheNetworkDoes() {
    for (long seed = 0; seed < RUNS; seed++) {
      Network network = new Network(seed, 0.3);
      Network.End asking = network.end();
      Network.End serving = network.end();
      Program asks = new Program(network);
      Program serves = new Program(network);
      serves.thinks = 400;
      if (seed % 2 == 0) {
        serves.answer = reply(ServiceReply.REJECTED);
        asks.answer = serves.answer;
      }
      assertThat(serving.agent.services().listen(SERVICE, serves)).isTrue();

      ask(asking, serving, asks);
      network.runToEnd();

      assertThat(asks.told)
          .as("active, seed %d", seed)
          .containsExactly(seed % 2 == 0 ? ServiceReply.REJECTED + " 0 0" : named());
      assertThat(serves.asked).as("requests told, seed %d", seed).hasSize(1);
      assertThat(known(asking, serving)).as("left, seed %d", seed).isZero();
    }
  }

  @Test
  void endsSoonWhereTheHostSaysThatItHasNoHca() {
    clean.absent(b, PATIENCE);

    ask(a, b, active);
    clean.runUntil(PATIENCE / 20);

    assertThat(active.told).containsExactly("no HCA");
    assertThat(clean.listening()).isZero();
    assertThat(known(a, b)).isZero();
  }

  @Test
  void isToldOneThingWhenTimeIsShort() {
    int answered = 0;
    for (long seed = 0; seed < RUNS; seed++) {
      Network network = new Network(seed, 0.2);
      Network.End asking = network.end();
      Network.End serving = network.end();
      Program asks = new Program(network);
      Program serves = new Program(network);
      serves.thinks = 50;
      serving.agent.services().listen(SERVICE, serves);

      ask(asking, serving, asks, 100 * Network.MILLI);
      network.runToEnd();

      assertThat(asks.told).as("active, seed %d", seed).hasSize(1);
      answered += asks.told.contains("unreachable") ? 0 : 1;
    }
    assertThat(answered).as("runs in which the answer came in time").isBetween(1, RUNS - 1);
  }

  @Test
  void saysThatNobodyServesIt() {
    active.answer = reply(ServiceReply.UNSUPPORTED);

    ask(a, b, active);
    clean.runToEnd();

    assertThat(active.told).containsExactly(ServiceReply.UNSUPPORTED + " 0 0");
    assertThat(known(a, b)).isZero();
  }

  @Test
  void givesUpWhenNobodyIsThere() {
    ByteBuffer data = data("which?", Mad.SERVICE_REQUEST_DATA);

    a.agent
        .services()
        .ask(
            UdpGid.of(99, 4791), new ServiceRequest(0, 0, 0xffff, SERVICE, data), PATIENCE, active);
    clean.runToEnd();

    assertThat(active.told).containsExactly("unreachable");
    assertThat(clean.messages()).as("it asks ever less often").isBetween(10, 30);
  }

  @Test
  void tellsARequestOnceHoweverLongTheProgramThinks() {
    passive.thinks = 5000;
    b.agent.services().listen(SERVICE, passive);

    ask(a, b, active);
    clean.runToEnd();

    assertThat(clean.messages()).as("it was asked again").isGreaterThan(3);
    assertThat(passive.asked).hasSize(1);
    assertThat(active.told).containsExactly(named());
  }

  @Test
  void answersAgainWhileItRemembers() {
    b.agent.services().listen(SERVICE, passive);
    ServiceResolution resolution = ask(a, b, active);
    clean.runUntil(5000 * Network.MILLI);
    int before = clean.messages();

    b.agent.receive(resolution.request(), a.gid());
    assertThat(clean.messages()).as("the answer, again").isEqualTo(before + 1);
    assertThat(passive.asked).hasSize(1);

    clean.runToEnd();
    b.agent.receive(resolution.request(), a.gid());
    assertThat(passive.asked).as("it has forgotten").hasSize(2);
    assertThat(active.told).containsExactly(named());
  }

  @Test
  void isAskedAgainWhenItsBacklogWasFull() {
    passive.full = true;
    b.agent.services().listen(SERVICE, passive);

    ask(a, b, active);
    clean.runUntil(2000 * Network.MILLI);
    assertThat(active.told).isEmpty();
    assertThat(b.agent.services().known()).isZero();
    passive.full = false;
    clean.runToEnd();

    assertThat(active.told).containsExactly(named());
    assertThat(passive.asked).hasSize(1);
  }

  @Test
  void isToldNothingAfterItHasWithdrawn() {
    passive.thinks = 500;
    b.agent.services().listen(SERVICE, passive);

    ServiceResolution resolution = ask(a, b, active);
    clean.runUntil(20 * Network.MILLI);
    resolution.withdraw();
    clean.runToEnd();

    assertThat(active.told).isEmpty();
    assertThat(known(a, b)).isZero();
  }

  @Test
  void takesAnAnswerFromNobodyButThePeer() {
    passive.full = true;
    b.agent.services().listen(SERVICE, passive);
    ServiceResolution resolution = ask(a, b, active);
    ServiceReply forged =
        new ServiceReply(
            resolution.request().transaction(),
            resolution.request().localId(),
            ServiceReply.NAMED,
            PAIR,
            SERVICE,
            KEY,
            active.answer.privateData());

    a.agent.receive(forged, UdpGid.of(77, 4791));
    assertThat(active.told).isEmpty();

    a.agent.receive(forged, b.gid());
    assertThat(active.told).containsExactly(named());
  }

  private static ServiceRequest question(int id) {
    ByteBuffer data = data("which?", Mad.SERVICE_REQUEST_DATA);
    return new ServiceRequest(id, id, 0xffff, SERVICE, data);
  }

  /** Requests with different UDP ports for the answer count as one address. */
  @Test
  void keepsNoMoreUndecidedQuestionsThanItMayAndNotForEver() {
    passive.thinks = 1_000_000;
    b.agent.services().listen(SERVICE, passive);
    for (int id = 1; id <= 1_000; id++) {
      b.agent.receive(question(id), UdpGid.of(77, id));
    }
    assertThat(passive.asked.size()).as("of one address").isEqualTo(256);
    for (int id = 1; id <= 2_000; id++) {
      b.agent.receive(question(id), UdpGid.of(1_000 + id, 4791));
    }
    assertThat(passive.asked.size()).as("in all").isEqualTo(1_024);
    clean.runUntil(20_000 * Network.MILLI);
    b.agent.receive(question(1), UdpGid.of(77, 1));

    clean.runUntil(40_000 * Network.MILLI);
    assertThat(b.agent.services().known()).as("still asked").isEqualTo(1);
    clean.runUntil(60_000 * Network.MILLI);
    assertThat(b.agent.services().known()).isZero();

    b.agent.receive(question(1), UdpGid.of(77, 4791));
    assertThat(passive.asked.size()).as("there is room again").isEqualTo(1_025);
  }

  @Test
  void remembersNoMoreAnswersThanItMay() {
    b.agent.services().listen(SERVICE, passive);
    for (int i = 0; i < CmAgent.MOST_WAITING + 10; i++) {
      ask(a, b, active);
    }
    clean.runUntil(1000 * Network.MILLI);

    assertThat(b.agent.services().known()).isEqualTo(CmAgent.MOST_WAITING);
    assertThat(active.told).hasSize(CmAgent.MOST_WAITING + 10);
  }
}
