package io.verbena.simulation.verbs;

/**
 * One step of a simulated program.
 *
 * @param number its number in the whole plan, for people
 * @param at the moment at which the program comes to it
 * @param link the connection
 * @param side 0 or 1: the end that does it
 * @param kind what it does
 * @param length bytes
 * @param target which register or counter of the peer it is about
 * @param offset where its payload starts in its end's source
 * @param signaled whether to make a completion on success
 * @param fence whether to wait for earlier READs and atomics
 * @param inline whether the payload travels in the request, if that is possible
 * @param pieces how many buffers its bytes are spread over
 * @param byDoor whether it reaches the peer's memory by a key of its own, if there is one
 * @param receiveAt when the peer posts the receive that it may take
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
    int pieces,
    boolean byDoor,
    long receiveAt) {

  /** Whether the program takes what is not sure to be good. */
  boolean isRash() {
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
      text.append(inline ? ", inline" : "").append(byDoor ? ", by door" : "");
    }
    if (kind.takesReceive()) {
      text.append(", receive at ").append(receiveAt).append(" ns");
    }
    return text.toString();
  }
}
