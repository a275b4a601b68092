// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import java.util.function.LongFunction;
import java.util.function.LongToIntFunction;

/** A native object around which a Java object is still to be made. */
final class Fresh {
  private Fresh() {}

  /**
   * Makes the Java object, or destroys the native one if that fails.
   *
   * @param verb what destroys it, for the error
   * @param pointer the native object
   * @param make makes the object that owns it
   * @param destroy destroys it: 0 or a negative errno
   */
  static <T> T own(String verb, long pointer, LongFunction<T> make, LongToIntFunction destroy) {
    try {
      return make.apply(pointer);
    } catch (RuntimeException | Error e) {
      int result = destroy.applyAsInt(pointer);
      if (result < 0) {
        e.addSuppressed(Errno.failure(verb, result));
      }
      throw e;
    }
  }
}
