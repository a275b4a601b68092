// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.Measurement;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Statistic;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.SocketChannel;
import io.verbena.core.micrometer.VerbenaMeters;
import io.verbena.verbs.stat.QueuePairsMXBean;
import java.lang.management.ManagementFactory;
import javax.management.JMX;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.junit.jupiter.api.Test;

/** Tests the meters of channels; both ends use the same meters here. */
class MetersTest {
  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private final VerbenaMeters meters = new VerbenaMeters(registry);

  /** Sends each message back. */
  private static final class Echo extends ChannelInboundHandlerAdapter {
    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      var unused = context.writeAndFlush(message);
    }
  }

  private double of(String name, String... tags) {
    double sum = 0;
    for (Meter meter :
        registry.find("verbena." + name).tags(tags).tag("adapter", "netty").meters()) {
      for (Measurement measurement : meter.measure()) {
        if (measurement.getStatistic() == Statistic.COUNT
            || measurement.getStatistic() == Statistic.VALUE) {
          sum += measurement.getValue();
        }
      }
    }
    return sum;
  }

  private void expect(double value, String name, String... tags) {
    await()
        .atMost(Ends.LIMIT)
        .untilAsserted(() -> assertThat(of(name, tags)).as(name).isEqualTo(value));
  }

  @Test
  void countsWhatAnEchoSendsAndReceives() {
    int length = 100_000;
    try (Ends ends = new Ends(Ends.options().meters(meters))) {
      Channel server = Ends.bind(ends.server(Echo::new));
      Collector received = new Collector();
      SocketChannel client = Ends.connect(ends.client(received), server);
      client.writeAndFlush(Unpooled.wrappedBuffer(new byte[length])).syncUninterruptibly();
      await().atMost(Ends.LIMIT).until(() -> received.bytes() == length);

      expect(2 * length, "data", "direction", "out");
      expect(2 * length, "data", "direction", "in");
      assertThat(of("messages", "direction", "out"))
          .isEqualTo(of("messages", "direction", "in"))
          .isPositive();
      assertThat(of("operations", "operation", "send", "status", "success")).isPositive();
      assertThat(of("operations.data", "operation", "send")).isPositive();
      assertThat(of("completion.queue.depth")).isPositive();
      assertThat(of("connections")).isEqualTo(2);
      assertThat(of("send.queue.limit")).isEqualTo(2 * Ends.options().build().sendDepth());
      assertThat(of("credits", "credit", "receive")).isPositive();
      assertThat(of("memory.registered")).isPositive();
      assertThat(of("errors")).isZero();

      client.close().syncUninterruptibly();
      expect(0, "connections");
      expect(0, "send.queue.depth");
      expect(0, "credits");
      expect(0, "completion.queue.reserved");
    }
    assertThat(of("memory.registered")).isZero();
    assertThat(of("completion.queue.limit")).isZero();
    assertThat(of("data", "direction", "out")).isEqualTo(2 * length);
  }

  @Test
  void itsQueuePairsAreShownWithTheCreditsOfTheirPeers() throws Exception {
    MBeanServer beans = ManagementFactory.getPlatformMBeanServer();
    ObjectName name = new ObjectName(QueuePairsMXBean.NAME);
    QueuePairsMXBean shown = JMX.newMXBeanProxy(beans, name, QueuePairsMXBean.class);
    try (Ends ends = new Ends(Ends.options())) {
      Channel server = Ends.bind(ends.server(Echo::new));
      Ends.connect(ends.client(new Collector()), server);

      await()
          .atMost(Ends.LIMIT)
          .until(
              () ->
                  beans.isRegistered(name)
                      && shown.getQueuePairs().stream()
                              .filter(pair -> pair.getUser().equals("netty"))
                              .filter(pair -> pair.getCredits().get("receive") > 0)
                              .count()
                          >= 2);
    }
    assertThat(shown.getQueuePairs()).noneMatch(pair -> pair.getUser().equals("netty"));
  }

  @Test
  void countsAConnectThatFails() {
    try (Ends ends = new Ends(Ends.options().meters(meters))) {
      Channel server = Ends.bind(ends.server(Echo::new));
      server.close().syncUninterruptibly();
      ChannelFuture connecting = ends.client(new Collector()).connect(server.localAddress());

      assertThat(connecting.awaitUninterruptibly(Ends.LIMIT.toMillis())).isTrue();
      assertThat(connecting.cause()).isNotNull();
      expect(1, "errors", "operation", "connect", "status", "none");
    }
    expect(0, "connections");
  }

  @Test
  void hasNoMoreMetersForMoreChannels() {
    try (Ends ends = new Ends(Ends.options().meters(meters))) {
      Channel server = Ends.bind(ends.server(Echo::new));
      exchange(ends, server);
      int before = registry.getMeters().size();
      for (int i = 0; i < 20; i++) {
        exchange(ends, server);
      }

      // A status that occurs for the first time adds a timer.
      assertThat(registry.getMeters()).hasSizeLessThan(before + 10);
      expect(0, "connections");
      expect(42, "messages", "direction", "in");
    }
  }

  private static void exchange(Ends ends, Channel server) {
    Collector received = new Collector();
    SocketChannel client = Ends.connect(ends.client(received), server);
    client.writeAndFlush(Unpooled.wrappedBuffer(new byte[10])).syncUninterruptibly();
    await().atMost(Ends.LIMIT).until(() -> received.bytes() == 10);
    client.close().syncUninterruptibly();
  }
}
