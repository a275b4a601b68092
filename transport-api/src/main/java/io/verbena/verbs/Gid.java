// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

/**
 * A port's global identifier, 128 bits in network order.
 *
 * @param high the subnet prefix
 * @param low the interface identifier
 */
public record Gid(long high, long low) {
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder(39);
    for (int group = 0; group < 8; group++) {
      long half = group < 4 ? high : low;
      text.append(group == 0 ? "" : ":")
          .append(String.format("%04x", half >>> (48 - 16 * (group & 3)) & 0xffff));
    }
    return text.toString();
  }
}
