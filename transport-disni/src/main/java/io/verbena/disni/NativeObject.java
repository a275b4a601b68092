// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import java.util.function.LongFunction;
import java.util.function.LongToIntFunction;

/** Wraps a new native object in a Java object. */
final class NativeObject {
  private NativeObject() {}

  /**
   * Makes the Java object, or destroys the native object if that fails.
   *
   * @param verb the name of the destroying call, for the error
   * @param pointer the native object
   * @param make makes the Java object that owns the native object
   * @param destroy destroys the native object; returns 0 or a negative errno
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
