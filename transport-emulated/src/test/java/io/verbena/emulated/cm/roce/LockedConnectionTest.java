// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.roce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.emulated.Caller;
import io.verbena.emulated.Loopbacks;
import io.verbena.emulated.cm.LockedConnections;
import io.verbena.verbs.PortSpace;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.net.URI;
import org.junit.jupiter.api.Test;

/** Locked connections over {@code roce://}. */
class LockedConnectionTest extends LockedConnections {
  @Override
  protected URI at(int number) {
    return URI.create("roce://" + Loopbacks.address(number) + ":0");
  }

  @Override
  protected int mostToAccept() {
    return 160;
  }

  @Override
  protected int mostToReject() {
    return 132;
  }

  @Test
  void datagramsHaveNoLock() {
    URI locked = with(URI.create("roce://" + Loopbacks.address(56) + ":7000"), key());
    try (Caller end = new Caller(at(56))) {
      assertThatThrownBy(() -> end.manager.listen(PortSpace.UDP, locked, 1))
          .isInstanceOfSatisfying(VerbsException.class, LockedConnectionTest::isNotSupported);
      assertThatThrownBy(() -> end.manager.resolve(PortSpace.UDP, locked, Caller.LIMIT.toNanos()))
          .isInstanceOfSatisfying(VerbsException.class, LockedConnectionTest::isNotSupported);
    }
  }

  private static void isNotSupported(VerbsException e) {
    assertThat(e.error()).isEqualTo(VerbsError.NOT_SUPPORTED);
  }
}
