// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.guest;

import java.lang.annotation.Documented;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Test classes that do not run in the guest though their package does. */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({})
public @interface LeftOut {
  /**
   * Their full names. Each has to be the name of a test class, unless it is not among those that
   * are asked for: what is gone is not left out.
   */
  String[] tests();

  /** Returns the reason. */
  String reason();
}
