// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import io.verbena.verbs.VerbsException;
import io.verbena.verbs.VerbsProviders;
import java.net.URI;

/** A program that lists the devices of a scheme's provider and prints the error. */
final class NativeAccess {
  private NativeAccess() {}

  public static void main(String[] arguments) {
    try {
      System.out.println(VerbsProviders.find(URI.create(arguments[0] + "://any")).deviceNames());
    } catch (VerbsException e) {
      System.out.println(e.error() + " " + e.getMessage());
    }
  }
}
