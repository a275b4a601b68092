// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.flight;

import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.arrow.flight.CallStatus;
import org.apache.arrow.flight.Ticket;

/**
 * A client's request for the first rows of a table, which travels as a ticket.
 *
 * @param table its name
 * @param rows the number of rows
 */
record Fetch(String table, long rows) {
  private static final Pattern FORM = Pattern.compile("([a-z]+):(\\d{1,18})");

  /** Decodes the result of {@link #ticket}; a ticket of another form is the client's error. */
  static Fetch of(Ticket ticket) {
    String text = new String(ticket.getBytes(), StandardCharsets.UTF_8);
    Matcher matcher = FORM.matcher(text);
    if (!matcher.matches()) {
      throw CallStatus.INVALID_ARGUMENT
          .withDescription("ticket: " + text + " (expected: " + FORM + ")")
          .toRuntimeException();
    }
    return new Fetch(matcher.group(1), Long.parseLong(matcher.group(2)));
  }

  Ticket ticket() {
    return new Ticket((table + ':' + rows).getBytes(StandardCharsets.UTF_8));
  }
}
