// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import io.verbena.disni.address.DisniAddress;
import io.verbena.disni.core.Words.ModerationWords;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.net.URI;

/** Checks the options of an address against a device and the port that it is opened on. */
final class AddressCheck {
  private final DisniContext context;
  private final URI address;
  private final DisniAddress asked;

  /**
   * @param asked the parsed address
   */
  AddressCheck(DisniContext context, URI address, DisniAddress asked) {
    this.context = context;
    this.address = address;
    this.asked = asked;
  }

  /**
   * Checks the options.
   *
   * @throws VerbsException {@code INVALID} for a number out of the device's range, {@code
   *     NOT_SUPPORTED} for an option that this kind of device does not have
   */
  void check(DisniPort port) {
    if (asked.port() != DisniAddress.UNSET && asked.port() != port.number()) {
      throw invalid("port", asked.port(), port.number() + ", on which the device is open");
    }
    if (asked.vector() >= context.vectors()) {
      throw invalid("vector", asked.vector(), "0.." + (context.vectors() - 1));
    }
    if (context.quirks().isIwarp()) {
      refuse("gid", asked.gid(), "RoCE");
      refuse("ack-timeout", asked.ackTimeout(), "RoCE or InfiniBand");
      refuse("rnr-timer", asked.rnrTimer(), "RoCE or InfiniBand");
    }
    if (asked.gid() != DisniAddress.UNSET) {
      checkGid(port);
    }
    if (asked.cqCount() != DisniAddress.UNSET) {
      checkModeration();
    }
  }

  private void checkGid(DisniPort port) {
    if (port.isInfiniBand()) {
      // GIDs of InfiniBand are not IP addresses.
      refuse("gid", asked.gid(), "RoCE");
    }
    int gids = port.gidsFor(asked.gid());
    if (asked.gid() >= gids) {
      throw invalid("gid", asked.gid(), "0.." + (gids - 1));
    }
  }

  private void checkModeration() {
    Block limits = Block.of(ModerationWords.values());
    Errno.check(
        "query device", context.core().queryModeration(context.pointer(), limits.address()));
    limit("cq-count", asked.cqCount(), limits.getInt(ModerationWords.MAX_COUNT));
    limit("cq-period", asked.cqPeriod(), limits.getInt(ModerationWords.MAX_PERIOD));
  }

  private void refuse(String option, int value, String where) {
    if (value != DisniAddress.UNSET) {
      throw new VerbsException(
          VerbsError.NOT_SUPPORTED,
          refusal(option, value, "none: " + context.name() + " is no device of " + where));
    }
  }

  private void limit(String option, int value, int most) {
    if (most == 0) {
      throw new VerbsException(
          VerbsError.NOT_SUPPORTED,
          refusal(
              option, value, "none: " + context.name() + " does not moderate completion queues"));
    }
    if (value > most) {
      throw invalid(option, value, "1.." + most);
    }
  }

  /** Returns the exception for a number that the device does not have. */
  VerbsException invalid(String option, int value, String expected) {
    return new VerbsException(VerbsError.INVALID, refusal(option, value, expected));
  }

  private String refusal(String option, int value, String expected) {
    return "address: " + address + " " + option + ": " + value + " (expected: " + expected + ")";
  }
}
