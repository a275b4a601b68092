package io.verbena.architecture;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;

/** The main code of all modules. */
final class House {
  private static final String GENERATED = "/jmh_generated/";

  static final JavaClasses CLASSES =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .withImportOption(location -> !location.contains(GENERATED))
          .importPackages("io.verbena");

  private House() {}
}
