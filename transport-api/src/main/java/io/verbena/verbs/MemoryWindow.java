// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

/**
 * A part of a memory region that peers may reach by a key of its own, which dies alone. While it is
 * bound, the region is busy.
 */
public interface MemoryWindow extends AutoCloseable {

  /** Returns the domain that it belongs to. */
  ProtectionDomain protectionDomain();

  /** Returns its kind. */
  MemoryWindowType type();

  /**
   * Returns the key by which peers name it; each bind changes its low 8 bits. It is a bind's new
   * key at the latest when the bind has completed, with type 1 once it is posted.
   */
  int rkey();

  /** Unbinds it, if it is bound, and deallocates it ({@code ibv_dealloc_mw(3)}). */
  @Override
  void close();
}
