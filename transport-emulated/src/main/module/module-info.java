// SPDX-License-Identifier: Apache-2.0
/** The emulated HCA. Programs use it only by its addresses; tests use the exported packages. */
module io.verbena.emulated {
  requires transitive io.verbena;
  requires jdk.jfr;
  requires jdk.unsupported;
  requires static org.jspecify;
  requires static org.junit.jupiter.api;

  exports io.verbena.emulated;
  exports io.verbena.emulated.sanitizer;
  exports io.verbena.emulated.sanitizer.junit;

  provides io.verbena.verbs.VerbsProvider with
      io.verbena.emulated.EmulatedProvider,
      io.verbena.emulated.RoceProvider,
      io.verbena.emulated.ShmProvider,
      io.verbena.emulated.IwarpProvider;
}
