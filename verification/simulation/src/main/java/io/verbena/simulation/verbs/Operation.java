// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.verbs;

/**
 * One step of a simulated program.
 *
 * @param number its index in the generated scenario, for the trace
 * @param at the virtual time at which the program executes it
 * @param link the index of the connection
 * @param side the endpoint that executes it, 0 or 1
 * @param kind the kind of operation
 * @param length the number of bytes
 * @param target the index of the register, counter or grant that it uses
 * @param offset the offset of its payload in the source buffer; also a source of random choices
 * @param signaled whether it completes with a completion on success
 * @param fence whether it waits for earlier READs and atomics
 * @param inline whether the payload is copied into the request if it is small enough
 * @param segments the number of scatter/gather entries
 * @param byGrantedKey whether it uses a key that the peer granted, if there is one
 * @param receiveAt the virtual time at which the peer posts a receive for it
 */
record Operation(
    int number,
    long at,
    int link,
    int side,
    OperationKind kind,
    int length,
    int target,
    int offset,
    boolean signaled,
    boolean fence,
    boolean inline,
    int segments,
    boolean byGrantedKey,
    long receiveAt) {

  /**
   * Returns whether the program uses keys that are being revoked, and revokes keys that are in use.
   */
  boolean isCareless() {
    return offset % 3 == 0;
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    text.append('#').append(number).append(" at ").append(at).append(" ns: link ").append(link);
    text.append(" end ").append(side).append(": ").append(kind);
    if (kind.isRequest()) {
      text.append(' ').append(length).append(" B, target ").append(target);
      text.append(signaled ? ", signaled" : "").append(fence ? ", fence" : "");
      text.append(inline ? ", inline" : "").append(byGrantedKey ? ", by granted key" : "");
    }
    if (kind.takesReceive()) {
      text.append(", receive at ").append(receiveAt).append(" ns");
    }
    return text.toString();
  }
}
