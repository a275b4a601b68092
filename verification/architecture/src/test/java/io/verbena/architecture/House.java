// SPDX-License-Identifier: Apache-2.0
package io.verbena.architecture;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;

/** The main code of all modules. */
final class House {
  private static final String TESTS = "/test-classes/";
  private static final String GENERATED = "/jmh_generated/";

  static final JavaClasses CLASSES =
      new ClassFileImporter()
          .withImportOption(location -> !location.contains(TESTS) && !location.contains(GENERATED))
          .importPackages("io.verbena");

  private House() {}
}
