// SPDX-License-Identifier: Apache-2.0
/** RNICs by the foreign-function interface. Programs reach them by their addresses alone. */
module io.verbena.foreign {
  requires io.verbena;
  requires io.verbena.disni;
  requires static org.jspecify;

  exports io.verbena.foreign;

  provides io.verbena.verbs.VerbsProvider with
      io.verbena.foreign.ForeignProvider;
}
