// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.doctor;

import io.verbena.tools.end.KernelFiles;
import io.verbena.verbs.Device;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.VerbsProviders;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The findings of one device.
 *
 * @param device its name, or null if it could not be opened
 * @param port the number of the port that it was opened on; 0 if it could not
 */
record Examination(URI uri, @Nullable String device, int port, List<Finding> findings) {

  /**
   * Opens the device, and runs all checks.
   *
   * @param root of the kernel's files
   */
  static Examination of(URI uri, Path root) throws InterruptedException {
    try (Device device = VerbsProviders.find(uri).open(uri)) {
      ExaminedDevice patient =
          new ExaminedDevice(uri, device, device.port(), new KernelFiles(root));
      return new Examination(uri, patient.name(), patient.port().number(), findings(patient));
    } catch (VerbsException e) {
      return new Examination(
          uri, null, 0, List.of(Finding.wrong("open", String.valueOf(e.getMessage()), advice(e))));
    }
  }

  private static String advice(VerbsException failure) {
    return switch (failure.error()) {
      case NOT_PERMITTED -> "run it as a user who may open /dev/infiniband";
      case NOT_SUPPORTED -> "take another device: Verbena needs reliable connections";
      case INVALID -> "correct the URI";
      case ADDRESS_IN_USE -> "end the program that has the HCA at this address, or take another";
      default ->
          "`verbena devices` lists what is here; disni://0.0.0.0?device=NAME opens one without an"
              + " address";
    };
  }

  private static List<Finding> findings(ExaminedDevice patient) throws InterruptedException {
    List<Finding> findings = new ArrayList<>();
    findings.add(LinkCheck.of(patient));
    GidChoice choice = patient.isKernels() ? GidChoice.of(patient) : null;
    findings.add(
        choice == null
            ? Finding.skipped("gid", "an emulated HCA has its address, and RoCE v2")
            : GidCheck.of(patient, choice));
    findings.add(MtuCheck.of(patient, choice == null ? -1 : choice.index()));
    findings.add(MemoryCheck.of(patient));
    findings.addAll(BusCheck.of(patient));
    findings.add(LossCheck.of(patient));
    findings.add(LoopbackCheck.of(patient, choice));
    return List.copyOf(findings);
  }

  /** The names of the checks that found something wrong. */
  List<String> wrong() {
    return findings.stream()
        .filter(finding -> finding.verdict() == Finding.Verdict.WRONG)
        .map(Finding::check)
        .toList();
  }
}
