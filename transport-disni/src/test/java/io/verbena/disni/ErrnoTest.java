// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.io.IOException;
import org.junit.jupiter.api.Test;

class ErrnoTest {
  @Test
  void tellsTheKindOfAFailureByItsNumber() {
    IOException ours = new IOException("rdma_bind_addr: Address already in use [errno 98]");

    VerbsException failure = Errno.failure("listen", ours);

    assertThat(failure.error()).isEqualTo(VerbsError.ADDRESS_IN_USE);
    assertThat(failure).hasMessageContaining("listen").hasCause(ours);
  }

  @Test
  void knowsNoKindWithoutANumber() {
    assertThat(Errno.failure("listen", new IOException("failed")).error()).isEqualTo(VerbsError.IO);
  }

  @Test
  void passesResultsThrough() {
    assertThat(Errno.check("poll", 3)).isEqualTo(3);
    assertThat(Errno.check("create", 1L << 40)).isEqualTo(1L << 40);
    assertThatThrownBy(() -> Errno.check("create", -12L))
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.error()).isEqualTo(VerbsError.NO_MEMORY))
        .hasMessageContaining("create")
        .hasMessageContaining("12");
  }
}
