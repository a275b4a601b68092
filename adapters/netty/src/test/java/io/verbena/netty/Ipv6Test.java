// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.abort;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.socket.SocketChannel;
import io.verbena.verbs.Device;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.VerbsProviders;
import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests channels on an HCA with an IPv6 address. */
@Tag("once")
class Ipv6Test {
  private static final URI HCA = URI.create("roce://[::1]");

  /**
   * The lock of this machine's only IPv6 loopback address, which other runs of these tests need.
   */
  private static @Nullable FileChannel lock;

  @BeforeAll
  static void waitForOtherRuns() throws IOException {
    FileChannel opened =
        FileChannel.open(
            Path.of(System.getProperty("java.io.tmpdir"), "verbena-ipv6-loopback.lock"),
            StandardOpenOption.CREATE,
            StandardOpenOption.WRITE);
    lock = opened;
    await().atMost(Duration.ofMinutes(10)).until(opened::tryLock, Objects::nonNull);
  }

  @AfterAll
  static void letOtherRunsGoOn() throws IOException {
    FileChannel opened = lock;
    if (opened != null) {
      opened.close();
    }
  }

  @BeforeEach
  void needTheLoopback() {
    try (Device device = VerbsProviders.find(HCA).open(HCA)) {
      assertThat(device.port().gids()).isNotEmpty();
    } catch (VerbsException e) {
      if (!Set.of(VerbsError.NO_DEVICE, VerbsError.ADDRESS_IN_USE).contains(e.error())) {
        throw e;
      }
      System.err.println("*** SKIPPED, NOT TESTED HERE: Netty channels over IPv6. " + e);
      abort(e.getMessage());
    }
  }

  @Test
  void connectByTheAddressThatTheServerHas() {
    Collector received = new Collector();
    try (Ends ends = new Ends(Ends.options(), HCA, HCA)) {
      Channel server = Ends.bind(ends.server(received));
      assertThat(((InetSocketAddress) server.localAddress()).getAddress())
          .isInstanceOf(Inet6Address.class);
      SocketChannel client = Ends.connect(ends.client(new Collector()), server);

      client.writeAndFlush(Unpooled.copiedBuffer(new byte[5])).syncUninterruptibly();

      await().atMost(Ends.LIMIT).until(() -> received.bytes() == 5);
    }
  }
}
