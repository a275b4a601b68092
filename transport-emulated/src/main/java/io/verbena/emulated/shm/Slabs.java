// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.shm;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** The slabs of one host, as packets and grants refer to them. */
interface Slabs {
  /**
   * Returns the memory of a slab; null if it is gone.
   *
   * @throws IOException if there is no such slab, or it cannot be mapped
   */
  @Nullable ByteBuffer find(int number) throws IOException;
}
