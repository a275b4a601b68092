// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.roce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.emulated.Caller;
import io.verbena.emulated.Loopbacks;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionManager;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SourcePortsTest {
  private static final InetAddress ADDRESS = address(1);
  private static final int COUNT = 16_384;

  private final SourcePorts one = SourcePorts.of(ADDRESS, 5);
  private final SourcePorts other = SourcePorts.of(ADDRESS, 5);

  private static InetAddress address(int last) {
    try {
      return InetAddress.getByAddress(new byte[] {(byte) 192, 0, 2, (byte) last});
    } catch (UnknownHostException e) {
      throw new AssertionError(e);
    }
  }

  @AfterEach
  void release() {
    one.release();
    other.release();
  }

  @Test
  void twoHcasAtOneAddressNeverTakeTheSamePort() {
    Set<Integer> taken = new HashSet<>();

    for (int i = 0; i < 100; i++) {
      assertThat(taken.add(one.take())).isTrue();
      assertThat(taken.add(other.take())).isTrue();
    }

    taken.forEach(one::giveBack);
  }

  @Test
  void anotherAddressHasPortsOfItsOwn() {
    SourcePorts elsewhere = SourcePorts.of(address(2), 5);
    int port = one.take();

    assertThat(elsewhere.take()).isEqualTo(port);

    elsewhere.giveBack(port);
    elsewhere.release();
    one.giveBack(port);
  }

  @Test
  void anAddressThatNobodyHasIsForgotten() {
    SourcePorts before = SourcePorts.of(address(3), 5);
    int port = before.take();
    before.release();
    SourcePorts after = SourcePorts.of(address(3), 5);

    assertThat(after.take()).isEqualTo(port);

    after.release();
  }

  @Test
  void aClosedManagerTakesNone() {
    URI address = URI.create("roce://" + Loopbacks.address(56));
    URI to = URI.create(address + ":7000");
    try (Caller caller = new Caller(address)) {
      ConnectionManager closed = caller.device.createConnectionManager();
      closed.close();
      try (ConnectionIdentifier first = caller.manager.resolve(to, 1)) {
        for (int i = 1; i < COUNT; i++) {
          assertThatThrownBy(() -> closed.resolve(to, 1))
              .isInstanceOfSatisfying(
                  VerbsException.class, e -> assertThat(e.error()).isEqualTo(VerbsError.CLOSED));
        }

        try (ConnectionIdentifier next = caller.manager.resolve(to, 1)) {
          assertThat(next.localAddress()).isNotEqualTo(first.localAddress());
        }
      }
    }
  }
}
