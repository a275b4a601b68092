// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.guest;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;

/**
 * Runs a Jupiter test class in a guest with Soft-RoCE devices, or others, or those of whole
 * packages. Only on top-level classes; their nested ones go with them. All classes that ask for the
 * same share one guest.
 *
 * <p>The guest's file systems are read-only except its own {@code /tmp} and the folder that the
 * environment names as {@code VERBENA_RESULTS}; see {@code bin/soft-roce} for the rest of the
 * environment. The Jupiter engine itself must not run such a class on the host: exclude {@link
 * #TAG}.
 */
@Documented
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
@Tag(InSoftRoceGuest.TAG)
public @interface InSoftRoceGuest {
  /** The tag of all such classes. */
  String TAG = "soft-roce";

  /**
   * Returns how many nodes the guest has, with a device each: 1 or 2. The tests have the tag {@code
   * nodes-1} or {@code nodes-2}.
   */
  int nodes() default 1;

  /** Returns what these devices are. */
  GuestDevices devices() default GuestDevices.RXE;

  /** Returns what the guest runs on. Where it is QEMU, the tests have the tag {@code qemu}. */
  GuestMachine machine() default GuestMachine.ANY;

  /**
   * Packages whose tests run in place of this class's own, of which it then has none: all that are
   * on the class path, those of packages below too.
   */
  String[] packages() default {};

  /** Returns which of these tests do not run, and why. They are reported as skipped. */
  LeftOut[] without() default {};
}
