package io.verbena.simulation.mutation;

import java.util.List;

/** Mistakes in the reactive layer. */
final class LayerMistakes {
  static final List<Mistake> ALL =
      List.of(
          of(
              "a credit counted twice",
              "Inbound.java",
              "    delivering = true;\n    messages.free();\n",
              "    delivering = true;\n    messages.free();\n    messages.free();\n"),
          of(
              "a credit given when the message comes, not when it is delivered",
              "Inbound.java",
              "      queue.add(message);\n      return;",
              "      queue.add(message);\n      messages.free();\n      return;"),
          of(
              "a credit lost when a send is over",
              "CreditShares.java",
              "  void giveBack(int count) {\n    reserved -= count;",
              "  void giveBack(int count) {\n    reserved -= 0 * count;"),
          of(
              "a frame's credit lost",
              "Inbound.java",
              "    unposted = null;\n    frames.free();\n    if (!connection.isPosting())",
              "    unposted = null;\n    if (!connection.isPosting())"),
          of(
              "a frame's credit given before its receive is posted",
              "Inbound.java",
              "  private void giveBack(ByteBuf frame) {\n    repost();\n",
              "  private void giveBack(ByteBuf frame) {\n    repost();\n    frames.free();\n"),
          of(
              "a long message given back before the pull has ended",
              "Inbound.java",
              "while (first != null && first.isOver()) {",
              "while (first != null && (first.isOver() || first.isReading())) {"),
          of(
              "a long message never given back",
              "Inbound.java",
              "      donePending = true;",
              "      donePending = false;"),
          of(
              "a message that overtakes those that wait",
              "Inbound.java",
              "if (to == null || delivering || !queue.isEmpty() || to.demand() <= 0) {",
              "if (to == null || delivering || to.demand() <= 0) {"),
          of(
              "a message that nobody asked for",
              "Inbound.java",
              "delivering || !queue.isEmpty() || to.demand() <= 0) {",
              "delivering || !queue.isEmpty()) {"),
          of(
              "the end mark sent while messages wait",
              "Closing.java",
              "return out.isIdle() && connection.isOneSidedDone();",
              "return connection.isOneSidedDone();"),
          of(
              "the end mark sent while one-sided operations are in flight",
              "Connection.java",
              "return oneSided == 0 && operations.isEmpty()",
              "return operations.isEmpty()"),
          of(
              "a gap behind a long message that is lost",
              "Inbound.java",
              "      lost |= next instanceof Pull pull && !pull.isOver();",
              "      lost = next instanceof Pull pull && !pull.isOver();"),
          of(
              "a buffer of a send that is lost with its frame",
              "Outbound.java",
              "  void lost(OutFrame frame, RdmaException error) {\n    frame.releasePayload();\n",
              "  void lost(OutFrame frame, RdmaException error) {\n"),
          of(
              "a failed operation of which nobody is told",
              "Operation.java",
              "    connection.guarded(this::release);\n    if (!isCancelled()) {",
              "    connection.guarded(this::release);\n    if (isCancelled()) {"),
          of(
              "a lost connection of which the sends are not told",
              "CreditShares.java",
              "      send.fail(error);\n",
              ""),
          of(
              "a notice that is told twice",
              "Connection.java",
              "      immediates.arrived(completion.immediate(), completion.byteLength());\n",
              """
                    immediates.arrived(completion.immediate(), completion.byteLength());
                    immediates.arrived(completion.immediate(), completion.byteLength());
              """));

  private LayerMistakes() {}

  private static Mistake of(String name, String file, String right, String wrong) {
    return new Mistake(
        name, "reactor-adapter/src/main/java/io/verbena/reactor/connection/" + file, right, wrong);
  }
}
