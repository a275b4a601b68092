// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.mutation;

import java.util.List;

/** Mistakes in the emulated HCA and its packet engine. */
final class EngineMistakes {
  static final List<Mistake> ALL =
      List.of(
          of(
              "a duplicate atomic is executed again",
              "engine/Responder.java",
              "          replyAtomic(psn, resource.result.original());",
              "          AtomicResult again = new AtomicResult();\n"
                  + "          context.host.fetchAndAdd(\n"
                  + "              packet.remoteKey(), packet.remoteAddress(), packet.swapOrAdd(),"
                  + " again);\n"
                  + "          replyAtomic(psn, again.original());"),
          of(
              "a duplicate atomic is not answered",
              "engine/Responder.java",
              "          replyAtomic(psn, resource.result.original());",
              ""),
          of(
              "a duplicate atomic is answered with what is there now",
              "engine/Responder.java",
              "replyAtomic(psn, resource.result.original())",
              "replyAtomic(psn, resource.result.original() + packet.swapOrAdd())"),
          of(
              "an atomic is not remembered",
              "engine/Responder.java",
              "    resources.addAtomic(expected);\n",
              ""),
          of(
              "a duplicate READ is not answered",
              "engine/Responder.java",
              "          replyRead(packet, psn == resource.firstPsn(), true);",
              ""),
          of(
              "a lost last ACK is not sent again",
              "engine/Responder.java",
              "default -> replies.acknowledge(Psn.plus(expected, -1), ACK, messageSequence);",
              "default -> {}"),
          of(
              "a duplicate SEND is taken again",
              "engine/Responder.java",
              "if (ahead < 0) {",
              "if (ahead < 0 && packet.opcode().kind() != Kind.SEND) {"),
          of(
              "a duplicate WRITE is executed again",
              "engine/Responder.java",
              "if (ahead < 0) {",
              "if (ahead < 0 && packet.opcode().kind() != Kind.WRITE) {"),
          of(
              "a missing packet is not missed",
              "engine/Responder.java",
              "} else if (ahead > 0) {",
              "} else if (ahead > 1) {"),
          of(
              "a NAK is repeated for ever",
              "engine/Responder.java",
              "if (!nakSent) {",
              "if (expected >= 0) {"),
          of(
                  "an acknowledgement that was held back tells of one packet too many",
                  "engine/Responder.java",
                  "released();\n      replies.acknowledge(Psn.plus(expected, -1), ACK, messageSequence);",
                  "released();\n      replies.acknowledge(expected, ACK, messageSequence);")
              .startingAt(1410),
          of(
                  "an acknowledgement that was held back is never sent",
                  "engine/Responder.java",
                  "released();\n      replies.acknowledge(Psn.plus(expected, -1), ACK, messageSequence);",
                  "released();")
              .startingAt(1410),
          of(
              "a READ that is asked for in parts ends with each of them",
              "engine/EngineContext.java",
              "return (packet + 1) % options.flow().readPart() == 0;",
              "return false;"),
          of(
              "a READ takes one PSN, however long",
              "engine/Responder.java",
              "expected = Psn.plus(expected, packets);",
              "expected = Psn.next(expected);"),
          of(
              "a message is complete with its first packet",
              "engine/Responder.java",
              "    if (ends) {\n      complete(packet);",
              "    if (opcode.starts()) {\n      complete(packet);"),
          of(
              "a receive tells the length of the last packet",
              "engine/Responder.java",
              ": receive.filled(),",
              ": packet.payloadLength(),"),
          of(
              "immediate data gets lost",
              "engine/Responder.java",
              "withImmediate ? packet.immediate()",
              "withImmediate ? 0"),
          of(
              "a misaligned atomic is not refused",
              "engine/Responder.java",
              "(packet.remoteAddress() & Long.BYTES - 1) == 0",
              "packet.remoteAddress() != 0"),
          of(
              "a SEND that is too large is acknowledged",
              "engine/Responder.java",
              "yield Refusal.TOO_LONG;",
              "yield endPacket(packet);"),
          of(
              "the responder refuses and goes on",
              "engine/Responder.java",
              "    failure.requestRefused();\n  }\n\n  private Refusal checkSequence",
              "  }\n\n  private Refusal checkSequence"),
          of(
              "the PSN wraps one too early",
              "roce/Psn.java",
              "return (psn + 1) & MASK;",
              "return psn + 1 >= MASK ? 0 : psn + 1;"),
          of(
              "PSNs are compared as if they did not wrap",
              "roce/Psn.java",
              "return ((psn - other) << UNUSED_BITS) >> UNUSED_BITS;",
              "return psn - other;"),
          of(
              "the ICRC is not checked",
              "roce/RocePacket.java",
              "return !checked || Icrc.read(bytes, covered) == computeIcrc(covered)",
              "return covered >= 0"),
          of(
              "the RNR timer is ignored",
              "engine/RetryClock.java",
              "deadline = timeline.now() + RnrTimer.nanos(timerCode);",
              "deadline = timeline.now();"),
          of(
              "there is one retry too few",
              "engine/RetryClock.java",
              "if (retriesLeft == 0) {",
              "if (retriesLeft <= 1) {"),
          of(
              "there is no timeout",
              "engine/RetryClock.java",
              "    if (wait == Wait.IDLE) {\n      restart();",
              "    if (wait == Wait.AWAITS_ANSWER) {\n      restart();"),
          of(
                  "progress does not give the retries back",
                  "engine/Completer.java",
                  "      clock.confirm();\n",
                  "")
              .startingAt(320),
          of(
              "a NAK acknowledges the packet that it names",
              "engine/Completer.java",
              "acknowledge(good ? Psn.next(psn) : psn)",
              "acknowledge(Psn.next(psn))"),
          of(
              "an RNR NAK is ignored",
              "engine/Completer.java",
              "return Next.AWAIT_RECEIVER;",
              "return Next.NOTHING;"),
          of(
              "an implied NAK is ignored: an ACK completes a READ",
              "engine/Completer.java",
              "if (RequestOpcodes.isReadOrAtomic(w.request(w.head).opcode())) {",
              "if (w.packets(w.head) == 0) {"),
          of(
              "an answer from before is taken",
              "engine/Completer.java",
              " || Psn.difference(psn, before) < 0",
              ""),
          of(
              "READ data lands at the start again",
              "engine/Completer.java",
              "            done,\n",
              "            0,\n"),
          of(
              "a request is complete when it is sent",
              "engine/Requester.java",
              "    if (context.reliable()) {\n      clock.sent();",
              "    if (context.reliable() && whole) {\n      clock.sent();"),
          of(
              "a READ goes on from the wrong offset",
              "engine/Requester.java",
              ".remoteAddress(request.remoteAddress() + done)",
              ".remoteAddress(request.remoteAddress())"),
          of(
              "FENCE is ignored",
              "engine/Requester.java",
              "(request.flags() & SendWorkRequest.FENCE) != 0 && w.readsOutstanding > 0",
              "w.readsOutstanding > 1 << 20"),
          of(
              "more READs are out than the peer remembers",
              "engine/Requester.java",
              "w.readsOutstanding >= mostReads()",
              "w.readsOutstanding < 0"),
          of(
              "no acknowledgement is asked for",
              "engine/Requester.java",
              "last || sinceAckRequest >= congestion.ackInterval()",
              "sinceAckRequest >= congestion.ackInterval()"),
          of(
              "going back skips a packet",
              "engine/SendWindow.java",
              "packet = Math.max(0, ahead);",
              "packet = Math.min(packets(cursor) - 1, Math.max(0, ahead) + 1);"),
          of(
              "a failed request that is unsignaled makes no completion",
              "engine/SendWindow.java",
              "host.sendFailed(head++, request, status);",
              "if (request.flags() != 0) host.sendFailed(head, request, status); head++;"),
          of(
              "what is flushed makes no completion",
              "engine/SendWindow.java",
              "      failHead(CompletionStatus.WR_FLUSH_ERR);",
              "      head++;"),
          of(
              "each packet takes a receive",
              "engine/ReceiveProgress.java",
              "    if (!held) {\n      held = host",
              "    if (filled >= 0) {\n      held = host"),
          of(
              "a WRITE puts each packet at its start",
              "engine/InboundWrite.java",
              "    address += payload;\n",
              ""),
          of(
              "acknowledgements that meet leave as the earlier one",
              "engine/ReplyQueue.java",
              "if (Psn.difference(psn, last.psn) > 0) {",
              "if (Psn.difference(psn, last.psn) < 0) {"),
          of(
              "a region ends one byte late",
              "hca/KeyEntry.java",
              "offset <= length - bytes;",
              "offset <= length - bytes + 1;"),
          of(
              "a shared receive is given twice",
              "hca/ReceiveRing.java",
              "    other.take();\n",
              "    if (to.taken % 2 == 0) {\n      other.take();\n    }\n"),
          of(
              "a window's key lives after LOCAL_INV",
              "engine/Requester.java",
              "context.host.invalidateLocally(request.remoteKey())",
              "request.remoteKey() != 0"),
          of(
              "a SEND_WITH_INV does not invalidate",
              "engine/Responder.java",
              "&& !context.host.invalidateRemotely(packet.invalidatedKey())) {",
              "&& packet.invalidatedKey() == 0) {"),
          of(
                  "a key of a window from before opens the present one",
                  "hca/KeyEntry.java",
                  "return alive && value == key;",
                  "return alive && index(value) == index(key);")
              .startingAt(750),
          of(
              "a window of type 2 serves all queue pairs of its domain",
              "hca/EmulatedMemoryWindow.java",
              "          own ? by : domain,",
              "          domain,"),
          of(
              "a window leads to all of its region",
              "hca/EmulatedMemoryWindow.java",
              "          buffers.length(0),",
              "          buffers.length(0) + 1,"),
          of(
              "a window gives rights that were not asked for",
              "hca/EmulatedMemoryWindow.java",
              "          request.windowAccess());\n      target.bound();",
              "          ALL);\n      target.bound();"),
          of(
                  "a deregistered region is still open",
                  "hca/EmulatedMemoryRegion.java",
                  "      last.key.kill();\n      keys.remove(last.key);",
                  "      assert last != null;")
              .startingAt(350),
          of(
              "a message of UC is delivered with a hole",
              "engine/UnreliableResponder.java",
              "packet.psn() != expected || opcode.kind() != open",
              "opcode.kind() != open"),
          of(
              "a message of UC begins where one that was dropped had come to",
              "engine/UnreliableResponder.java",
              "      receive.rewind();\n",
              ""),
          of(
              "a message of UC that is dropped takes its receive with it",
              "engine/UnreliableResponder.java",
              "      open = null;\n      return;",
              "      open = null;\n      receive.drop();\n      return;"),
          of(
              "a queue key of UD is not checked",
              "engine/DatagramResponder.java",
              "packet.queueKey() != context.queueKey || length",
              "length"),
          of(
              "a datagram tells another queue pair as its source",
              "engine/DatagramResponder.java",
              "        packet.sourceQueuePair(),",
              "        packet.destinationQueuePair(),"),
          of(
              "a datagram too large for a shared receive leaves no trace",
              "engine/DatagramResponder.java",
              "if (context.options.sharedReceives()) {",
              "if (length < 0) {"),
          of(
              "a message of UC too large for a shared receive leaves no trace",
              "engine/UnreliableResponder.java",
              "if (context.options.sharedReceives()) {",
              "if (length < 0) {"),
          of(
              "a queue pair that fails flushes what others share with it",
              "engine/ReceiveProgress.java",
              "while (!shared && take()) {",
              "while (take()) {"),
          of(
                  "a region that is registered anew keeps its old key",
                  "hca/EmulatedMemoryRegion.java",
                  "      before.key.kill();\n      device.keys().remove(before.key);\n",
                  "")
              .startingAt(2360),
          of(
              "a region that is registered anew leads to the memory of before",
              "hca/EmulatedMemoryRegion.java",
              "newBuffer == null ? before.key.memory() : newBuffer.slice()",
              "before.key.memory()"),
          of(
                  "a region that is registered anew keeps its rights",
                  "hca/EmulatedMemoryRegion.java",
                  "newAccess == null ? before.access : Set.copyOf(newAccess)",
                  "before.access")
              .startingAt(330),
          of(
              "a region that is registered anew stays open to its old domain",
              "hca/EmulatedMemoryRegion.java",
              "registration = enter(to, memory",
              "registration = enter(before.domain, memory"),
          of(
              "a region is registered anew with a window bound",
              "hca/EmulatedMemoryRegion.java",
              "      requireNoWindow(\"reregister memory\");\n",
              ""),
          of(
              "a queue that drains begins what is posted",
              "engine/Requester.java",
              "      drained();\n      return false;\n",
              "      drained();\n"),
          of(
              "a queue is told drained before it is",
              "engine/Requester.java",
              "if (window.isIdle() && !drained) {",
              "if (!drained) {"),
          of(
              "a queue is told drained again and again",
              "engine/Requester.java",
              "      drained = true;\n",
              ""),
          of(
              "a queue is told drained though nobody asked",
              "engine/Requester.java",
              "if (context.drainedNotify) {",
              "if (drained) {"),
          of(
              "nobody is told that a queue has drained",
              "engine/Requester.java",
              "context.host.raise(AsyncEvent.Type.SQ_DRAINED);",
              ""),
          of(
                  "a queue drains only once",
                  "engine/Requester.java",
                  "  void stateChanged() {\n    drained = false;\n",
                  "  void stateChanged() {\n")
              .startingAt(350),
          of(
              "nothing is sent again while a queue drains",
              "engine/Requester.java",
              "if (context.state != QueuePairState.RTS && context.state != QueuePairState.SQD) {",
              "if (context.state != QueuePairState.RTS && window.cursor < window.started) {"),
          of(
              "a queue pair of which the sends drain answers nobody",
              "engine/QueuePairEngine.java",
              "          responder.receive(packet);",
              "          if (context.state != QueuePairState.SQD) responder.receive(packet);"),
          of(
              "PSNs start again when a drained queue goes on",
              "engine/QueuePairEngine.java",
              "if (from == QueuePairState.RTR) {",
              "if (from != QueuePairState.RTS) {"));

  private EngineMistakes() {}

  private static Mistake of(String name, String file, String right, String wrong) {
    return new Mistake(
        name, "transport-emulated/src/main/java/io/verbena/emulated/" + file, right, wrong);
  }
}
