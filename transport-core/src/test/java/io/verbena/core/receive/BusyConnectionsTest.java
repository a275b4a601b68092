// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.receive;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.verbena.RdmaOptions;
import io.verbena.core.loop.CloseSteps;
import io.verbena.core.loop.CompletionQueues;
import io.verbena.core.loop.LoopMember;
import io.verbena.core.memory.RegisteredMemory;
import io.verbena.meters.HcaMeter;
import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.Device;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SharedReceiveQueue;
import io.verbena.verbs.VerbsProviders;
import io.verbena.verbs.WorkCompletion;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests how many receives a pool keeps posted while many connections are busy. */
@Tag("once")
class BusyConnectionsTest {
  private static final URI ADDRESS = URI.create("emulated://busy-connections");
  private static final int FRAME = 256;
  private static final int FIRST = 8;
  private static final int BOUND = 4096;
  private static final int CONNECTIONS = 400;

  /** Number of receives that stay posted for idle connections. */
  private static final int IDLE = 256 + CONNECTIONS / 4;

  private static final long PERIOD = TimeUnit.MILLISECONDS.toNanos(250);

  private final Device device = VerbsProviders.find(ADDRESS).open(ADDRESS);
  private final ProtectionDomain domain = device.allocateProtectionDomain();
  private final RegisteredMemory memory =
      new RegisteredMemory(domain, RdmaOptions.builder().maxRegisteredBytes(1 << 20).build());
  private final ReceiveFrames frames = new ReceiveFrames(memory, FRAME);
  private final CompletionQueues<LoopMember> queues =
      new CompletionQueues<>(device, null, HcaMeter.OFF);
  private final Size size = new Size();
  private final Queue<Long> posted = new ArrayDeque<>();
  private long now;
  private final ReceivePool pool =
      new ReceivePool(
          queues, watched(), frames, BOUND, FIRST, () -> now, null, size, new CloseSteps());
  private final List<Connection> connections = new ArrayList<>();

  BusyConnectionsTest() {
    for (int number = 1; number <= CONNECTIONS; number++) {
      connections.add(new Connection(number));
    }
  }

  /** The number of receives that the pool reports as posted. */
  private static final class Size extends HcaMeter {
    private long receives;

    @Override
    public void receivePool(long sizeChange, long promisedChange) {
      receives += sizeChange;
    }
  }

  private final class Connection implements ReceivePool.User {
    private final int number;
    private final ReceiveShare share = pool.join();

    Connection(int number) {
      this.number = number;
      share.serve(number, this);
    }

    /** Completes receives with this many messages of the peer. */
    void receive(int messages) {
      WorkCompletion completion = new WorkCompletion();
      for (int i = 0; i < messages; i++) {
        completion.set(posted.remove(), CompletionOpcode.RECV, 1, 0, number, 0, 0);
        pool.completed(completion);
      }
    }

    @Override
    public void received(ByteBuf frame, WorkCompletion completion) {
      share.giveBack(frame);
    }

    @Override
    public void receiveRefused(Throwable why) {
      throw new AssertionError(why);
    }
  }

  private ProtectionDomain watched() {
    return proxy(
        ProtectionDomain.class,
        arguments ->
            watched(
                domain.createSharedReceiveQueue((Integer) arguments[0], (Integer) arguments[1])));
  }

  private SharedReceiveQueue watched(SharedReceiveQueue real) {
    return proxy(
        SharedReceiveQueue.class,
        arguments -> {
          if (arguments == null) {
            real.close();
          } else {
            posted.add(((ReceiveWorkRequest) arguments[0]).id());
          }
          return null;
        });
  }

  private interface Call {
    Object apply(Object[] arguments);
  }

  private static <T> T proxy(Class<T> type, Call call) {
    return type.cast(
        Proxy.newProxyInstance(
            BusyConnectionsTest.class.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> call.apply(arguments)));
  }

  @AfterEach
  void close() {
    connections.forEach(each -> each.share.release());
    assertThat(size.receives).isZero();
    queues.close();
    memory.close();
    domain.close();
    device.close();
  }

  @Test
  void whatConnectionsThatSendAtOnceArePromisedIsPosted() {
    assertThat(posted).hasSize(IDLE);

    busy(100);

    assertThat(size.receives).isEqualTo(100 * FIRST);
    assertThat(posted).hasSize(100 * FIRST);
  }

  @Test
  void theyHaveNoMoreThanHalfOfThePool() {
    busy(CONNECTIONS);

    assertThat(posted).hasSize(BOUND / 2);
  }

  @Test
  void connectionsThatSendOneAfterTheOtherNeedNoMore() {
    for (int i = 0; i < CONNECTIONS; i += 20) {
      connections.subList(i, i + 20).forEach(each -> each.receive(4));
      now += PERIOD;
    }

    assertThat(posted).hasSize(IDLE);
  }

  @Test
  void norDoThoseWithARequestNowAndThen() {
    for (int i = 0; i < 10; i++) {
      connections.forEach(each -> each.receive(1));
      now += PERIOD;
      connections.get(0).receive(64);
    }

    assertThat(posted).hasSize(IDLE);
  }

  @Test
  void theyComeOneByOneAndNotAsAConnectionJoins() {
    connections.forEach(each -> each.receive(1));
    connections.forEach(each -> each.receive(1));
    int before = posted.size();

    connections.add(new Connection(CONNECTIONS + 1));

    assertThat(size.receives).isEqualTo(BOUND / 2);
    assertThat(posted).hasSizeBetween(before, before + FIRST).hasSizeLessThan(BOUND / 2);
  }

  @Test
  void theReceivesGoWhenTheyAreBusyNoMore() {
    busy(200);
    aPeriodOfOne();
    assertThat(size.receives).isEqualTo(200 * FIRST);

    aPeriodOfOne();
    assertThat(size.receives).isEqualTo(100 * FIRST);

    aPeriodOfOne();
    aPeriodOfOne();
    assertThat(size.receives).isEqualTo(IDLE);
    connections.get(0).receive(200 * FIRST);
    assertThat(posted).hasSize(IDLE);
  }

  @Test
  void theyHaveNoneWhereMemoryIsScarce() {
    List<ByteBuf> hoard = new ArrayList<>();
    while (!frames.areScarce()) {
      hoard.add(frames.allocate());
    }

    busy(100);

    assertThat(size.receives).isEqualTo(IDLE);
    assertThat(posted).hasSize(IDLE);
    hoard.forEach(ByteBuf::release);
  }

  /** Makes this many connections take receives until all receives that they need are posted. */
  private void busy(int count) {
    for (int i = 0; i < FIRST; i++) {
      connections.subList(0, count).forEach(each -> each.receive(1));
    }
  }

  private void aPeriodOfOne() {
    now += PERIOD;
    connections.get(0).receive(64);
  }
}
