// SPDX-License-Identifier: Apache-2.0
/** RNICs by DiSNI. Programs reach them by their addresses alone. */
module io.verbena.disni {
  requires io.verbena;
  requires jdk.unsupported;
  requires static org.jspecify;

  exports io.verbena.disni;

  provides io.verbena.verbs.VerbsProvider with
      io.verbena.disni.DisniProvider;
}
