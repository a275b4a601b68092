// SPDX-License-Identifier: Apache-2.0
package io.verbena.fuzz;

import io.verbena.emulated.cm.protocol.CmMessage;
import io.verbena.emulated.cm.protocol.IpAddressing;
import io.verbena.emulated.cm.protocol.Mad;
import io.verbena.emulated.cm.protocol.MadFault;
import java.nio.ByteBuffer;

/** Fuzzes the parser of management datagrams, which any host may send to queue pair 1. */
public final class MadFuzz {
  private MadFuzz() {}

  public static void fuzzerTestOneInput(byte[] data) {
    ByteBuffer mad = ByteBuffer.wrap(data);
    MadFault fault = Mad.check(mad);
    Claim.that(mad.remaining() == data.length, "checking moves nothing");
    Claim.that(fault != MadFault.NONE || data.length == Mad.LENGTH, "256 bytes");
    if (fault != MadFault.NONE) {
      return;
    }
    CmMessage read = Mad.read(mad);
    Claim.that(mad.remaining() == data.length, "reading moves nothing");
    ByteBuffer written = ByteBuffer.allocate(Mad.LENGTH);
    Mad.write(read, written);
    Claim.that(Mad.check(written) == MadFault.NONE, "what was read can be written");
    Claim.that(Mad.read(written).equals(read), "and is the same");
    if (read instanceof CmMessage.Request request) {
      IpAddressing addressing = IpAddressing.read(request.privateData());
      if (addressing != null) {
        ByteBuffer again = ByteBuffer.allocate(IpAddressing.LENGTH);
        addressing.write(again);
        Claim.that(addressing.equals(IpAddressing.read(again.flip())), "the same addresses");
      }
    }
  }
}
