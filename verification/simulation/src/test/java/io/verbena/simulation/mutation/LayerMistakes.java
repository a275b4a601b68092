// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.mutation;

import java.util.List;

/** Mistakes in the reactive layer. */
final class LayerMistakes {
  static final List<Mistake> ALL =
      List.of(
          of(
              "a credit counted twice",
              "receive/MessageReceiver.java",
              "    delivering = true;\n    messages.free();\n",
              "    delivering = true;\n    messages.free();\n    messages.free();\n"),
          of(
              "a credit given when the message comes, not when it is delivered",
              "receive/MessageReceiver.java",
              "      keep(message);\n      return;",
              "      keep(message);\n      messages.free();\n      return;"),
          of(
              "a credit lost when a send is over",
              "credit/CreditShares.java",
              "  public void giveBack(int count) {\n    reserved -= count;",
              "  public void giveBack(int count) {\n    reserved -= 0 * count;"),
          of(
              "a frame's credit lost",
              "receive/MessageReceiver.java",
              "    } else {\n      frames.free();\n    }\n    receives.giveBack(frame);",
              "    }\n    receives.giveBack(frame);"),
          of(
              "credits used that were given back",
              "credit/SendFrameCredits.java",
              "    giveBack(count);\n",
              ""),
          of(
              "a frame's credit given before its receive is posted",
              "receive/MessageReceiver.java",
              "(ByteBuf frame) {\n    try {\n      repost();\n",
              "(ByteBuf frame) {\n    try {\n      repost();\n      frames.free();\n"),
          of(
              "a long message given back before the pull has ended",
              "receive/MessageReceiver.java",
              "while (first != null && first.isOver()) {",
              "while (first != null && (first.isOver() || first.isStarted())) {"),
          of(
              "a long message never given back",
              "credit/OwedCredits.java",
              "    donePending = true;",
              "    donePending = false;"),
          of(
              "a message that overtakes those that wait",
              "receive/MessageReceiver.java",
              "waits = to == null || delivering || !queue.isEmpty() || to.demand() <= 0;",
              "waits = to == null || delivering || to.demand() <= 0;"),
          of(
              "a message that nobody asked for",
              "receive/MessageReceiver.java",
              "delivering || !queue.isEmpty() || to.demand() <= 0;",
              "delivering || !queue.isEmpty();"),
          of(
              "the end mark sent while messages wait",
              "connection/GracefulClose.java",
              "return out.isIdle() && operations.isDone();",
              "return operations.isDone();"),
          of(
              "the end mark sent while one-sided operations are in flight",
              "onesided/OneSidedOperations.java",
              "return inFlight == 0 && operations.isEmpty()",
              "return operations.isEmpty()"),
          of(
              "a gap behind a long message that is lost",
              "receive/MessageReceiver.java",
              "      lost |= next instanceof RendezvousRead read && !read.isOver();",
              "      lost = next instanceof RendezvousRead read && !read.isOver();"),
          of(
              "a buffer of a send that is lost with its frame",
              "send/FramesInFlight.java",
              "  void lost(SendFrame frame, RdmaException error) {\n    frame.releasePayload();\n",
              "  void lost(SendFrame frame, RdmaException error) {\n"),
          of(
              "a failed operation of which nobody is told",
              "onesided/OneSidedOperation.java",
              "    releaseGuarded();\n    if (mayEmit()) {",
              "    releaseGuarded();\n    if (!mayEmit()) {"),
          of(
              "a lost connection of which the sends are not told",
              "credit/CreditShares.java",
              "    halt();\n    for (S send : new ArrayList<>(active)) {\n      send.fail(error);\n",
              "    halt();\n    for (S send : new ArrayList<>(active)) {\n"),
          of(
                  "a long message that nobody reads once the send queue has room",
                  "connection/CompletionRouter.java",
                  "        || receiver.hasUnreadMessage()) {",
                  "        || (receiver.hasUnreadMessage() && waiting == null)) {")
              .startingAt(1810),
          of(
                  "a silent peer that is not asked",
                  "connection/KeepAlive.java",
                  "    queues.ask(this);\n",
                  "")
              .startingAt(1990),
          of(
                  "a frame for which there is no memory",
                  "send/MessageSender.java",
                  "      next = flying.open();\n    } catch (MemoryLimitException e) {",
                  "      next = flying.open();\n    } catch (UnsupportedOperationException e) {")
              .startingAt(2740),
          of(
              "a subscriber that throws and ends its loop",
              "connection/ConnectionLifecycle.java",
              "    terminate(new ConnectionClosedException(operation,",
              """
                  if (error instanceof RuntimeException thrown) {
                    throw thrown;
                  }
                  terminate(new ConnectionClosedException(operation,"""),
          of(
                  "a publisher that throws, and whose send never ends",
                  "send/SendOperation.java",
                  "      // As if the publisher had signalled it.\n      fail(thrown);\n",
                  "      // As if the publisher had signalled it.\n")
              .startingAt(340),
          of(
              "a notice that is told twice",
              "connection/CompletionRouter.java",
              "      immediates.arrived(completion.immediate(), completion.byteLength());\n",
              """
                    immediates.arrived(completion.immediate(), completion.byteLength());
                    immediates.arrived(completion.immediate(), completion.byteLength());
              """));

  private LayerMistakes() {}

  private static Mistake of(String name, String file, String right, String wrong) {
    return new Mistake(
        name, "reactor-adapter/src/main/java/io/verbena/reactor/" + file, right, wrong);
  }
}
