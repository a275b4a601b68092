// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitizer;

/**
 * Thrown for a finding, if the program asked for that. The verb that throws it has done its work
 * all the same.
 */
public final class FindingException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final transient Finding finding;

  FindingException(Finding finding) {
    super(finding.report());
    this.finding = finding;
  }

  /** Returns the finding. */
  public Finding finding() {
    return finding;
  }
}
