// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectNestedClass;

import io.verbena.emulated.roce.RocePacket;
import io.verbena.emulated.wire.UdpWire;
import io.verbena.tck.VerbsTck;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.Device;
import io.verbena.verbs.Gid;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.URI;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.junit.platform.testkit.engine.EngineExecutionResults;
import org.junit.platform.testkit.engine.EngineTestKit;

/** Tests connections over IPv6, and a part of the verbs TCK. */
@Tag("once")
class RoceIpv6Test {
  private static final String HOST = "[0:0:0:0:0:0:0:1]";
  private static final int FEWER = 50;

  /** Locks other runs of these tests out, because this machine has one IPv6 loopback address. */
  private static @Nullable FileChannel lock;

  @BeforeAll
  @Timeout(value = 11, unit = TimeUnit.MINUTES)
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

  /** Skips the test unless the one IPv6 loopback address and its UDP port are free. */
  @BeforeEach
  void needTheLoopback() throws Exception {
    try (UdpWire free = UdpWire.open(loopback(), RocePacket.UDP_PORT)) {
      assertThat(free.passesStrictChecks()).isTrue();
    } catch (IOException | UnsupportedOperationException e) {
      System.err.println(
          "*** SKIPPED, NOT TESTED HERE: RoCEv2 over IPv6. UDP port 4791 on [::1]: " + e);
      abort("UDP port 4791 on [::1]: " + e);
    }
  }

  private static InetAddress loopback() throws IOException {
    byte[] address = new byte[16];
    address[15] = 1;
    return Inet6Address.getByAddress(address);
  }

  @Test
  void connectsAndHasItsAddressForItsGid() throws Exception {
    URI address = URI.create("roce://" + HOST + ":7000");
    try (Caller passive = new Caller(URI.create("roce://[::1]"));
        Caller active = new Caller(address);
        ConnectionListener listener = passive.manager.listen(address, 1)) {
      assertThat(passive.device.port().gids()).containsExactly(new Gid(0, 1));
      assertThat(listener.address()).isEqualTo(address);
      ConnectionIdentifier from = active.manager.resolve(address, Caller.LIMIT.toNanos());
      active.expect(ConnectionEvent.Type.ADDR_RESOLVED);
      assertThat(active.queuePair(from).number()).isPositive();
      from.connect(ConnectionParameters.defaults(), Caller.LIMIT.toNanos());
      ConnectionIdentifier to = passive.expect(ConnectionEvent.Type.CONNECT_REQUEST).identifier();
      assertThat(to.peer()).startsWith("roce://" + HOST + ":");
      assertThat(passive.queuePair(to).number()).isPositive();

      to.accept(ConnectionParameters.defaults());

      active.expect(ConnectionEvent.Type.ESTABLISHED);
      passive.expect(ConnectionEvent.Type.ESTABLISHED);
    }
  }

  @Test
  void hasNoWayToAnIpv4Address() throws Exception {
    try (Caller caller = new Caller(URI.create("roce://[::1]"))) {
      assertThatThrownBy(
              () ->
                  caller.manager.resolve(
                      URI.create("roce://" + Loopbacks.ADDRESS + ":7000"), Caller.LIMIT.toNanos()))
          .isInstanceOfSatisfying(
              VerbsException.class, e -> assertThat(e.error()).isEqualTo(VerbsError.INVALID))
          .hasMessageContaining(HOST);
    }
  }

  @Test
  void saysThatItsPortIsTaken() throws Exception {
    try (UdpWire taken = UdpWire.open(loopback(), RocePacket.UDP_PORT)) {
      assertThat(taken.udpPort()).isEqualTo(RocePacket.UDP_PORT);
      assertThatThrownBy(RoceIpv6Test::open)
          .isInstanceOfSatisfying(
              VerbsException.class, e -> assertThat(e.error()).isEqualTo(VerbsError.ADDRESS_IN_USE))
          .hasMessageContaining(HOST);
    }
  }

  private static Device open() {
    return new RoceProvider().open(URI.create("roce://[::1]"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Connecting",
        "SendAndReceive",
        "ReadAndWrite",
        "Atomics",
        "RemoteProtection",
        "Datagrams"
      })
  @Timeout(600)
  void keepsTheRulesOf(String area) {
    EngineExecutionResults results =
        EngineTestKit.engine("junit-jupiter")
            .selectors(
                selectNestedClass(
                    List.of(OnIpv6.class.getName()), VerbsTck.class.getName() + '$' + area))
            .execute();

    results.allEvents().failed().assertThatEvents().isEmpty();
    assertThat(results.testEvents().succeeded().count()).isPositive();
  }

  /** Nested, so that JUnit does not find the class by itself. */
  static final class OnIpv6 extends VerbsTck {
    private static final AtomicInteger NEXT_PORT = new AtomicInteger(20_000);
    private static final ConcurrentHashMap<String, Integer> PORTS = new ConcurrentHashMap<>();

    @Override
    protected int iterations(int full) {
      return Math.max(1, full / FEWER);
    }

    @Override
    protected URI address(String name) {
      int port = PORTS.computeIfAbsent(name, unused -> NEXT_PORT.getAndIncrement());
      return URI.create("roce://[::1]:" + port);
    }
  }
}
