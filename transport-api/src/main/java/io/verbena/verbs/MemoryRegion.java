// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import java.nio.ByteBuffer;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Registered memory ({@code ibv_mr}). Its keys become invalid when {@link #close} begins; after it
 * returns, the HCA no longer touches the memory.
 */
public interface MemoryRegion extends AutoCloseable {

  /** Returns the protection domain of the region. */
  ProtectionDomain protectionDomain();

  /**
   * Returns the address of the first byte, for scatter/gather entries and for peers. An emulated
   * HCA chooses the address, which is no native one: only differences within a region mean
   * anything.
   */
  long address();

  /** Returns the length in bytes. */
  long length();

  /** Returns the key that names the region in local work requests. */
  int lkey();

  /** Returns the key that names the region for peers; 0 without a remote right. */
  int rkey();

  /** Returns the rights that the region gives. */
  Set<Access> access();

  /**
   * Changes the region; null arguments leave their attribute unchanged. Address and keys may
   * change. No work request on the region may be outstanding.
   *
   * @param domain the new domain, or null
   * @param buffer the new memory, or null
   * @param access the new rights, or null
   * @throws VerbsException {@code NOT_SUPPORTED} without {@link Capability#REREGISTRATION}, {@code
   *     BUSY} while a memory window is bound to the region, otherwise as {@link
   *     ProtectionDomain#register}
   */
  void reregister(
      @Nullable ProtectionDomain domain, @Nullable ByteBuffer buffer, @Nullable Set<Access> access);

  /**
   * Deregisters the memory.
   *
   * @throws VerbsException {@code BUSY} while a memory window is bound to the region
   */
  @Override
  void close();
}
