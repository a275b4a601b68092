// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.verbs;

import io.verbena.it.guest.InSoftRoceGuest;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

/** The same by the foreign-function interface: with datagrams and windows, on a kernel's device. */
@EnabledForJreRange(min = JRE.JAVA_22, disabledReason = "verbs:// needs JDK 22 or later")
@InSoftRoceGuest(nodes = 1)
class ForeignVerbsTest extends KernelVerbsTck {
  ForeignVerbsTest() {
    super("verbs");
  }
}
