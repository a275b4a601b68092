// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitizer;

/**
 * A finding, where the program asked to be stopped by it. The verb that throws it has done its work
 * all the same.
 */
public final class FindingException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final transient Finding finding;

  FindingException(Finding finding) {
    super(finding.report());
    this.finding = finding;
  }

  /** What was found. */
  public Finding finding() {
    return finding;
  }
}
