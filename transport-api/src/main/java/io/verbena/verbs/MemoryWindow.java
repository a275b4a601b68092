// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

/**
 * A part of a memory region that peers may access by the window's own key, which can be revoked
 * without the region's. A region with a bound window is busy.
 */
public interface MemoryWindow extends AutoCloseable {

  /** Returns the protection domain of the window. */
  ProtectionDomain protectionDomain();

  /** Returns the type of the window. */
  MemoryWindowType type();

  /**
   * Returns the key that names the window for peers; each bind changes its low 8 bits. The new key
   * is returned once the bind is posted for type 1, at the latest when the bind has completed for
   * type 2B.
   */
  int rkey();

  /** Unbinds the window, if it is bound, and deallocates it ({@code ibv_dealloc_mw(3)}). */
  @Override
  void close();
}
