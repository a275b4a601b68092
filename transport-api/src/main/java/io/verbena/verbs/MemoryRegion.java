// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import java.nio.ByteBuffer;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Registered memory. Its keys are invalid the moment {@link #close} begins, and when it returns the
 * HCA no longer touches the memory.
 */
public interface MemoryRegion extends AutoCloseable {

  /** Returns the domain that it belongs to. */
  ProtectionDomain protectionDomain();

  /**
   * Returns the address of its first byte, local and remote, as scatter/gather entries and peers
   * use it. On an emulated HCA it is the HCA's own; only differences within one region mean
   * anything.
   */
  long address();

  /** Returns its length in bytes. */
  long length();

  /** Returns the key by which local work requests name it. */
  int lkey();

  /** Returns the key by which peers name it; 0 without a remote right. */
  int rkey();

  /** Returns what may be done to it. */
  Set<Access> access();

  /**
   * Changes the region; what is null stays as it is. Address and keys may change with it. No work
   * request on the region may be outstanding.
   *
   * @param domain the new domain, or null
   * @param buffer the new memory, or null
   * @param access the new rights, or null
   * @throws VerbsException {@code NOT_SUPPORTED} without {@link Capability#REREGISTRATION}, {@code
   *     BUSY} while a memory window is bound to it, otherwise as {@link ProtectionDomain#register}
   */
  void reregister(
      @Nullable ProtectionDomain domain, @Nullable ByteBuffer buffer, @Nullable Set<Access> access);

  /**
   * Deregisters the memory.
   *
   * @throws VerbsException {@code BUSY} while a memory window is bound to it
   */
  @Override
  void close();
}
