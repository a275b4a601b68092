// SPDX-License-Identifier: Apache-2.0
package io.verbena.fuzz;

import io.verbena.emulated.address.RoceAddress;
import io.verbena.verbs.VerbsException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;

/**
 * Fuzzes the parser of {@code roce://} addresses. Inputs with host names are skipped, because
 * fuzzing must not query a name server.
 */
public final class RoceAddressFuzz {
  private static final String OCTET = "(25[0-5]|2[0-4]\\d|1?\\d?\\d)";
  private static final Pattern LITERAL =
      Pattern.compile(OCTET + "(\\." + OCTET + "){3}|\\[[0-9a-fA-F:.]*\\]");
  private static final int MAX_PORT = 65_535;

  private RoceAddressFuzz() {}

  public static void fuzzerTestOneInput(byte[] data) {
    URI address;
    try {
      address = new URI(new String(data, StandardCharsets.UTF_8));
    } catch (URISyntaxException e) {
      return;
    }
    String host = address.getHost();
    if (host != null && !LITERAL.matcher(host).matches()) {
      return;
    }
    try {
      RoceAddress read = RoceAddress.parse(address);
      Claim.that(read.port() >= 0 && read.port() <= MAX_PORT, "a port");
      Claim.that(read.udpPort() >= 0 && read.udpPort() <= MAX_PORT, "a UDP port");
      Claim.that(read.equals(RoceAddress.parse(address)), "the same again");
    } catch (VerbsException e) {
      Claim.that(e.getMessage() != null, "an error says what is wrong");
    }
  }
}
