// SPDX-License-Identifier: Apache-2.0
/**
 * RNICs through DiSNI's native library. Programs need no class of this module: they open devices by
 * {@code disni://} addresses.
 */
module io.verbena.disni {
  requires io.verbena;
  requires jdk.unsupported;
  requires static org.jspecify;

  exports io.verbena.disni;
  exports io.verbena.disni.core to
      io.verbena.foreign;

  provides io.verbena.verbs.VerbsProvider with
      io.verbena.disni.DisniProvider;
}
