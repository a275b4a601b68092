// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

/** The way to a UD peer, prepared once. */
public interface AddressHandle extends AutoCloseable {

  /** The domain that it belongs to. */
  ProtectionDomain protectionDomain();

  /** Where it leads. */
  AddressVector vector();

  @Override
  void close();
}
