// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import com.ibm.disni.util.MemoryUtils;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaEventChannel;
import io.verbena.verbs.VerbsException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;

/** A program written against DiSNI's published jar, as far as it runs without a device. */
final class StockProgram {
  private static final short PORT_SPACE_TCP = 0x0106;

  private StockProgram() {}

  public static void main(String[] arguments) {
    try {
      DisniLibrary.requireExports();
      System.out.println("address: " + MemoryUtils.getAddress(ByteBuffer.allocateDirect(8)));
      System.out.println("channel: " + useChannel());
    } catch (VerbsException e) {
      System.out.println(e.getMessage());
    }
  }

  private static String useChannel() {
    try {
      RdmaEventChannel channel = RdmaEventChannel.createEventChannel();
      RdmaCmId id = channel.createId(PORT_SPACE_TCP);
      id.bindAddr(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      // In the wrong order, as DiSNI's own classes destroy them.
      return "channel " + channel.destroyEventChannel() + ", identifier " + id.destroyId();
    } catch (IOException e) {
      return e.getMessage();
    }
  }
}
