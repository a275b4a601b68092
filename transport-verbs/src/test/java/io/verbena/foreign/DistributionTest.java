// SPDX-License-Identifier: Apache-2.0
package io.verbena.foreign;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.verbena.verbs.VerbsException;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests the provider on the distribution's rdma-core with whatever devices the machine has. */
@Tag("jdk22")
final class DistributionTest {
  @Test
  void findsAllFunctionsThatItCalls() {
    assumeTrue(Runtime.version().feature() >= 22, "verbs:// needs JDK 22 or later");

    List<String> names;
    try {
      names = new ForeignProvider().deviceNames();
    } catch (VerbsException e) {
      assumeTrue(!String.valueOf(e.getMessage()).contains("cannot be loaded"), e.getMessage());
      throw e;
    }

    assertThat(names).doesNotHaveDuplicates().doesNotContain("");
  }
}
