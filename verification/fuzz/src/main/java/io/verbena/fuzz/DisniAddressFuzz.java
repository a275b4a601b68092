// SPDX-License-Identifier: Apache-2.0
package io.verbena.fuzz;

import io.verbena.disni.address.DisniAddress;
import io.verbena.verbs.VerbsException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;

/**
 * Fuzzes the parser of {@code disni://} addresses. Inputs with host names are skipped, because
 * fuzzing must not query a name server.
 */
public final class DisniAddressFuzz {
  private static final String OCTET = "(25[0-5]|2[0-4]\\d|1?\\d?\\d)";

  /** Matches address literals with valid octets; other text would be looked up as a name. */
  private static final Pattern LITERAL =
      Pattern.compile(OCTET + "(\\." + OCTET + "){3}|\\[[0-9a-f:]+]");

  private static final Pattern SOURCE = Pattern.compile("(^|&)source=(?!" + LITERAL + "(&|$))");

  private DisniAddressFuzz() {}

  public static void fuzzerTestOneInput(byte[] data) {
    URI address;
    try {
      address = new URI(new String(data, StandardCharsets.UTF_8));
    } catch (URISyntaxException e) {
      return;
    }
    if (asksForAName(address)) {
      return;
    }
    DisniAddress read;
    try {
      read = DisniAddress.parse(DisniAddress.SCHEME, address);
    } catch (VerbsException e) {
      Claim.that(e.getMessage() != null, "an error says what is wrong");
      return;
    }
    Claim.that(!read.socket().isUnresolved(), "a host that has an address");
    Claim.that(read.gid() >= -1, "a GID index, or none");
    Claim.that(
        DisniAddress.parse(
                DisniAddress.SCHEME, DisniAddress.uri(DisniAddress.SCHEME, read.socket()))
            .socket()
            .equals(read.socket()),
        "what was read can be written");
  }

  private static boolean asksForAName(URI address) {
    String host = address.getHost();
    String query = address.getRawQuery();
    return (host != null && !LITERAL.matcher(host).matches())
        || (query != null && SOURCE.matcher(query).find());
  }
}
