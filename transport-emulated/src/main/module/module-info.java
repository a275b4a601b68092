// SPDX-License-Identifier: Apache-2.0
/** The emulated HCA. Programs reach it by its addresses alone; tests use what is exported. */
module io.verbena.emulated {
  requires transitive io.verbena;
  requires jdk.jfr;
  requires jdk.unsupported;
  requires static org.jspecify;
  requires static org.junit.jupiter.api;

  exports io.verbena.emulated;
  exports io.verbena.emulated.sanitizer.junit;

  provides io.verbena.verbs.VerbsProvider with
      io.verbena.emulated.EmulatedProvider,
      io.verbena.emulated.RoceProvider,
      io.verbena.emulated.ShmProvider,
      io.verbena.emulated.IwarpProvider;
}
