// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

/** The path to a UD peer, prepared once for many sends ({@code ibv_ah}). */
public interface AddressHandle extends AutoCloseable {

  /** Returns the protection domain of the handle. */
  ProtectionDomain protectionDomain();

  /** Returns the address of the peer. */
  AddressVector vector();

  @Override
  void close();
}
