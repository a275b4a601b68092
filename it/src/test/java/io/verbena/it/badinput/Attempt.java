// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.badinput;

import io.verbena.verbs.Access;
import io.verbena.verbs.Device;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.VerbsProviders;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.Set;

/**
 * A program that opens the device of an address and registers memory: {@code URI BYTES}. It prints
 * the failure if there is one.
 */
final class Attempt {
  private Attempt() {}

  public static void main(String[] arguments) {
    URI address = URI.create(arguments[0]);
    try (Device device = VerbsProviders.find(address).open(address);
        ProtectionDomain domain = device.allocateProtectionDomain();
        MemoryRegion region =
            domain.register(
                ByteBuffer.allocateDirect(Integer.parseInt(arguments[1])),
                Set.of(Access.LOCAL_WRITE))) {
      System.out.println("registered " + region.length());
    } catch (VerbsException e) {
      System.out.println(e.error() + ": " + e.getMessage());
    }
  }
}
