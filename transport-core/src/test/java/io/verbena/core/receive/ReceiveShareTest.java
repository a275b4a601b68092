// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.receive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests how a share stops its queue pair. */
@Tag("once")
class ReceiveShareTest {
  private final VerbsException gone = new VerbsException(VerbsError.IO, "by a test");

  private final List<QueuePairState> changes = new ArrayList<>();
  private boolean refuses;

  private QueuePair in(QueuePairState state) {
    return (QueuePair)
        Proxy.newProxyInstance(
            ReceiveShareTest.class.getClassLoader(),
            new Class<?>[] {QueuePair.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("state")) {
                return state;
              }
              changes.add(((QueuePairAttributes) arguments[0]).state());
              if (refuses) {
                throw gone;
              }
              return null;
            });
  }

  /** Only a state change waits for a flush that another thread has begun. */
  @ParameterizedTest
  @EnumSource(names = {"INIT", "RTS", "ERR"})
  void isChangedWhateverItsState(QueuePairState state) {
    ReceiveShare.stop(in(state));

    assertThat(changes).containsExactly(QueuePairState.ERR);
  }

  @Test
  void isStoppedWhereTheDeviceIsGoneThatBroughtItThere() {
    refuses = true;

    ReceiveShare.stop(in(QueuePairState.ERR));

    assertThat(changes).hasSize(1);
  }

  @Test
  void isNotStoppedWhereTheHcaCannot() {
    refuses = true;

    assertThatThrownBy(() -> ReceiveShare.stop(in(QueuePairState.RTS))).isSameAs(gone);
  }
}
