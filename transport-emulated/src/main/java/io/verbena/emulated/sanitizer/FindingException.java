// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitizer;

/**
 * Thrown for a finding, if {@link Sanitizer} has wrapped the device to throw. The verb has done its
 * work before; if the verb itself failed, this exception replaces that of the verb.
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
