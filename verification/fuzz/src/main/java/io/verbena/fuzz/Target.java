// SPDX-License-Identifier: Apache-2.0
package io.verbena.fuzz;

import java.util.Locale;

/** All fuzz targets. */
public enum Target {
  PACKET(PacketFuzz.class, 4200),
  HANDSHAKE(HandshakeFuzz.class, 64),
  REJECTION(RejectionFuzz.class, 64),
  NETTY(NettyHandshakeFuzz.class, 64),
  FRAME(FrameReaderFuzz.class, 512),
  TOKEN(RemoteMemoryFuzz.class, 64),
  ADDRESS(DisniAddressFuzz.class, 200),
  EMULATED(EmulatedAddressFuzz.class, 400),
  ROCE(RoceAddressFuzz.class, 200),
  MAD(MadFuzz.class, 260),
  ROUTE(GlobalRouteFuzz.class, 48),
  MPA(MpaFuzz.class, 540),
  FPDU(FpduFuzz.class, 96),
  RECORD(RecordFuzz.class, 178),
  LIBRARY(ElfSymbolsFuzz.class, 1024);

  private final Class<?> type;
  private final int longest;

  Target(Class<?> type, int longest) {
    this.type = type;
    this.longest = longest;
  }

  /** Runs the target on one input. Throws an exception if the parser fails on it. */
  public void feed(byte[] input) {
    switch (this) {
      case PACKET -> PacketFuzz.fuzzerTestOneInput(input);
      case HANDSHAKE -> HandshakeFuzz.fuzzerTestOneInput(input);
      case REJECTION -> RejectionFuzz.fuzzerTestOneInput(input);
      case NETTY -> NettyHandshakeFuzz.fuzzerTestOneInput(input);
      case FRAME -> FrameReaderFuzz.fuzzerTestOneInput(input);
      case TOKEN -> RemoteMemoryFuzz.fuzzerTestOneInput(input);
      case ADDRESS -> DisniAddressFuzz.fuzzerTestOneInput(input);
      case EMULATED -> EmulatedAddressFuzz.fuzzerTestOneInput(input);
      case ROCE -> RoceAddressFuzz.fuzzerTestOneInput(input);
      case MAD -> MadFuzz.fuzzerTestOneInput(input);
      case ROUTE -> GlobalRouteFuzz.fuzzerTestOneInput(input);
      case MPA -> MpaFuzz.fuzzerTestOneInput(input);
      case FPDU -> FpduFuzz.fuzzerTestOneInput(input);
      case RECORD -> RecordFuzz.fuzzerTestOneInput(input);
      case LIBRARY -> ElfSymbolsFuzz.fuzzerTestOneInput(input);
    }
  }

  /** Returns the maximum length of an input in bytes; longer ones reach no further code. */
  public int longest() {
    return longest;
  }

  /** Returns the human-readable name, which is also the name of the folder of inputs. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Prints the name, class and maximum input length of each target, for {@code bin/fuzz}. */
  public static void main(String[] args) {
    for (Target target : values()) {
      System.out.println(target.label() + ' ' + target.type.getName() + ' ' + target.longest);
    }
  }
}
