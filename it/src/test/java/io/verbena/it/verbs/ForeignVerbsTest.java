// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.verbs;

import io.verbena.it.guest.InSoftRoceGuest;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

/**
 * Runs the TCK with the foreign-function provider, including datagrams and memory windows, on a
 * kernel device.
 */
@EnabledForJreRange(min = JRE.JAVA_22, disabledReason = "verbs:// needs JDK 22 or later")
@InSoftRoceGuest(nodes = 1)
class ForeignVerbsTest extends KernelVerbsTck {
  ForeignVerbsTest() {
    super("verbs");
  }
}
