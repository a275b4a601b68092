// SPDX-License-Identifier: Apache-2.0
package io.verbena.fuzz;

import io.verbena.emulated.address.EmulatedAddress;
import io.verbena.emulated.address.EmulatedAddress.Option;
import io.verbena.emulated.address.LimitOption;
import io.verbena.emulated.address.WireOptions;
import io.verbena.emulated.hca.DeviceLimits;
import io.verbena.emulated.wire.Fault;
import io.verbena.verbs.DeviceAttributes;
import io.verbena.verbs.VerbsException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Fuzzes the parser of {@code emulated://} addresses, with all their options. */
public final class EmulatedAddressFuzz {
  private static final long LONGEST_LATENCY = 1_000_000_000;

  private EmulatedAddressFuzz() {}

  public static void fuzzerTestOneInput(byte[] data) {
    URI address;
    try {
      address = new URI(new String(data, StandardCharsets.UTF_8));
    } catch (URISyntaxException e) {
      return;
    }
    acceptOrRefuse(
        () -> {
          EmulatedAddress read = EmulatedAddress.parse(address);
          Claim.that(!read.name().isEmpty(), "a name");
          Claim.that(read.equals(EmulatedAddress.parse(address)), "the same again");
          Map<Option, String> options = read.options();
          // Each is judged even if the other is refused.
          acceptOrRefuse(() -> judge(read.limits(), DeviceLimits.of(read.limits())));
          acceptOrRefuse(() -> judge(options, WireOptions.of(options)));
        });
  }

  private static void acceptOrRefuse(Runnable parse) {
    try {
      parse.run();
    } catch (VerbsException e) {
      Claim.that(e.getMessage() != null, "an error says what is wrong");
    }
  }

  private static void judge(Map<LimitOption, String> lowered, DeviceAttributes limits) {
    DeviceAttributes full = DeviceLimits.FULL;
    within(limits.maxQueuePairs(), full.maxQueuePairs());
    within(limits.maxWorkRequests(), full.maxWorkRequests());
    within(limits.maxScatterGather(), full.maxScatterGather());
    within(limits.maxInlineData(), full.maxInlineData());
    within(limits.maxCompletionQueues(), full.maxCompletionQueues());
    within(limits.maxCompletions(), full.maxCompletions());
    within(limits.maxMemoryRegions(), full.maxMemoryRegions());
    within(limits.maxMemoryRegionSize(), full.maxMemoryRegionSize());
    within(limits.maxProtectionDomains(), full.maxProtectionDomains());
    within(limits.maxMemoryWindows(), full.maxMemoryWindows());
    within(limits.maxAddressHandles(), full.maxAddressHandles());
    within(limits.maxSharedReceiveQueues(), full.maxSharedReceiveQueues());
    within(limits.maxSharedReceiveRequests(), full.maxSharedReceiveRequests());
    within(limits.maxReadAtomicAsInitiator(), full.maxReadAtomicAsInitiator());
    within(limits.maxReadAtomicAsResponder(), full.maxReadAtomicAsResponder());
    within(limits.maxMessageSize(), full.maxMessageSize());
    Claim.that(!lowered.isEmpty() || limits.equals(full), "all that there is, without options");
  }

  private static void within(long limit, long full) {
    Claim.that(limit >= 1 && limit <= full, "a limit from 1 to the full one");
  }

  private static void judge(Map<Option, String> options, @Nullable WireOptions wire) {
    Claim.that((wire != null) == options.containsKey(Option.WIRE), "a wire if it is asked for");
    if (wire == null) {
      return;
    }
    long latency = wire.schedule().latency();
    Claim.that(latency >= 0 && latency <= LONGEST_LATENCY, "a latency up to a second");
    for (Fault fault : wire.schedule().faults()) {
      Claim.that(fault.perMillion() > 0 && fault.perMillion() <= Fault.ALWAYS, "a probability");
    }
    Claim.that(wire.equals(WireOptions.of(options)), "the same wire again");
  }
}
