// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

/** The way to a UD peer, prepared once. */
public interface AddressHandle extends AutoCloseable {

  /** Returns the domain that it belongs to. */
  ProtectionDomain protectionDomain();

  /** Returns the address that it leads to. */
  AddressVector vector();

  @Override
  void close();
}
