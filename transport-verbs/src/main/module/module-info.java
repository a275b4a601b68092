// SPDX-License-Identifier: Apache-2.0
/**
 * RNICs through the foreign function interface. Programs need no class of this module: they open
 * devices by {@code verbs://} addresses.
 */
module io.verbena.foreign {
  requires io.verbena;
  requires io.verbena.disni;
  requires static org.jspecify;

  exports io.verbena.foreign;

  provides io.verbena.verbs.VerbsProvider with
      io.verbena.foreign.ForeignProvider;
}
