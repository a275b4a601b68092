package io.verbena.simulation.mutation;

import java.util.List;

/** Mistakes that somebody could make in the packet engine. */
final class Mistakes {
  static final List<Mistake> ALL =
      List.of(
          new Mistake(
              "a duplicate atomic is executed again",
              "engine/Responder.java",
              "          replyAtomic(psn, resource.result.original());",
              "          AtomicResult again = new AtomicResult();\n"
                  + "          link.host.fetchAndAdd(\n"
                  + "              packet.remoteKey(), packet.remoteAddress(), packet.swapOrAdd(),"
                  + " again);\n"
                  + "          replyAtomic(psn, again.original());"),
          new Mistake(
              "a duplicate atomic is not answered",
              "engine/Responder.java",
              "          replyAtomic(psn, resource.result.original());",
              ""),
          new Mistake(
              "a duplicate atomic is answered with what is there now",
              "engine/Responder.java",
              "replyAtomic(psn, resource.result.original())",
              "replyAtomic(psn, resource.result.original() + packet.swapOrAdd())"),
          new Mistake(
              "an atomic is not remembered",
              "engine/Responder.java",
              "    resources.addAtomic(expected);\n",
              ""),
          new Mistake(
              "a duplicate READ is not answered",
              "engine/Responder.java",
              "          replyRead(packet, psn == resource.firstPsn());",
              ""),
          new Mistake(
              "a lost last ACK is not sent again",
              "engine/Responder.java",
              "default -> replies.acknowledge(psn, ACK, messageSequence);",
              "default -> {}"),
          new Mistake(
              "a duplicate SEND is taken again",
              "engine/Responder.java",
              "if (ahead < 0) {",
              "if (ahead < 0 && packet.opcode().kind() != Kind.SEND) {"),
          new Mistake(
              "a duplicate WRITE is executed again",
              "engine/Responder.java",
              "if (ahead < 0) {",
              "if (ahead < 0 && packet.opcode().kind() != Kind.WRITE) {"),
          new Mistake(
              "a missing packet is not missed",
              "engine/Responder.java",
              "} else if (ahead > 0) {",
              "} else if (ahead > 1) {"),
          new Mistake(
              "a NAK is repeated for ever",
              "engine/Responder.java",
              "if (!nakSent) {",
              "if (expected >= 0) {"),
          new Mistake(
              "a READ takes one PSN, however long",
              "engine/Responder.java",
              "expected = Psn.plus(expected, packets);",
              "expected = Psn.next(expected);"),
          new Mistake(
              "a message is complete with its first packet",
              "engine/Responder.java",
              "    if (ends) {\n      complete(packet);",
              "    if (opcode.starts()) {\n      complete(packet);"),
          new Mistake(
              "a receive tells the length of the last packet",
              "engine/Responder.java",
              ": receive.filled(),",
              ": packet.payloadLength(),"),
          new Mistake(
              "immediate data gets lost",
              "engine/Responder.java",
              "withImmediate ? packet.immediate()",
              "withImmediate ? 0"),
          new Mistake(
              "a misaligned atomic is not refused",
              "engine/Responder.java",
              "(packet.remoteAddress() & Long.BYTES - 1) == 0",
              "packet.remoteAddress() != 0"),
          new Mistake(
              "a SEND that is too large is acknowledged",
              "engine/Responder.java",
              "yield Refusal.TOO_LONG;",
              "yield endPacket(packet);"),
          new Mistake(
              "the responder refuses and goes on",
              "engine/Responder.java",
              "    failure.requestRefused();\n  }\n\n  private Refusal checkSequence",
              "  }\n\n  private Refusal checkSequence"),
          new Mistake(
              "the PSN wraps one too early",
              "roce/Psn.java",
              "return (psn + 1) & MASK;",
              "return psn + 1 >= MASK ? 0 : psn + 1;"),
          new Mistake(
              "PSNs are compared as if they did not wrap",
              "roce/Psn.java",
              "return ((psn - other) << UNUSED_BITS) >> UNUSED_BITS;",
              "return psn - other;"),
          new Mistake(
              "the ICRC is not checked",
              "roce/Frame.java",
              "return Icrc.read(bytes, covered) == icrc.compute(bytes, covered)",
              "return covered >= 0"),
          new Mistake(
              "the RNR timer is ignored",
              "engine/RetryClock.java",
              "deadline = timeline.now() + RnrTimer.nanos(timerCode);",
              "deadline = timeline.now();"),
          new Mistake(
              "there is one retry too few",
              "engine/RetryClock.java",
              "if (retriesLeft == 0) {",
              "if (retriesLeft <= 1) {"),
          new Mistake(
              "there is no timeout",
              "engine/RetryClock.java",
              "    if (wait == Wait.IDLE) {\n      restart();",
              "    if (wait == Wait.AWAITS_ANSWER) {\n      restart();"),
          new Mistake(
              "progress does not give the retries back",
              "engine/Completer.java",
              "      clock.confirm();\n",
              ""),
          new Mistake(
              "a NAK acknowledges the packet that it names",
              "engine/Completer.java",
              "acknowledge(good ? Psn.next(psn) : psn)",
              "acknowledge(Psn.next(psn))"),
          new Mistake(
              "an RNR NAK is ignored",
              "engine/Completer.java",
              "return Next.AWAIT_RECEIVER;",
              "return Next.NOTHING;"),
          new Mistake(
              "an implied NAK is ignored: an ACK completes a READ",
              "engine/Completer.java",
              "if (RequestOpcodes.isReadOrAtomic(w.request(w.head).opcode())) {",
              "if (w.packets(w.head) == 0) {"),
          new Mistake(
              "an answer from before is taken",
              "engine/Completer.java",
              " || Psn.difference(psn, before) < 0",
              ""),
          new Mistake(
              "READ data lands at the start again",
              "engine/Completer.java",
              "            done,\n",
              "            0,\n"),
          new Mistake(
              "a request is complete when it is sent",
              "engine/Requester.java",
              "    if (link.reliable()) {\n      clock.sent();",
              "    if (link.reliable() && whole) {\n      clock.sent();"),
          new Mistake(
              "a READ goes on from the wrong offset",
              "engine/Requester.java",
              ".remoteAddress(request.remoteAddress() + done)",
              ".remoteAddress(request.remoteAddress())"),
          new Mistake(
              "FENCE is ignored",
              "engine/Requester.java",
              "(request.flags() & SendWorkRequest.FENCE) != 0 && w.readsOutstanding > 0",
              "w.readsOutstanding > 1 << 20"),
          new Mistake(
              "more READs are out than the peer remembers",
              "engine/Requester.java",
              "w.readsOutstanding >= link.maxReadAtomic",
              "w.readsOutstanding < 0"),
          new Mistake(
              "no acknowledgement is asked for",
              "engine/Requester.java",
              "frame.ackRequested(last || ++sinceAckRequest >= ACK_INTERVAL);",
              "frame.ackRequested(++sinceAckRequest >= ACK_INTERVAL);"),
          new Mistake(
              "going back skips a packet",
              "engine/SendWindow.java",
              "packet = Math.max(0, ahead);",
              "packet = Math.min(packets(cursor) - 1, Math.max(0, ahead) + 1);"),
          new Mistake(
              "a failed request that is unsignaled makes no completion",
              "engine/SendWindow.java",
              "host.sendFailed(head++, request, status);",
              "if (request.flags() != 0) host.sendFailed(head, request, status); head++;"),
          new Mistake(
              "what is flushed makes no completion",
              "engine/SendWindow.java",
              "      failHead(CompletionStatus.WR_FLUSH_ERR);",
              "      head++;"),
          new Mistake(
              "each packet takes a receive",
              "engine/ReceiveProgress.java",
              "    if (!held) {\n      held = host",
              "    if (filled >= 0) {\n      held = host"),
          new Mistake(
              "a WRITE puts each packet at its start",
              "engine/InboundWrite.java",
              "    address += payload;\n",
              ""),
          new Mistake(
              "acknowledgements that meet leave as the earlier one",
              "engine/ReplyQueue.java",
              "if (Psn.difference(psn, last.psn) > 0) {",
              "if (Psn.difference(psn, last.psn) < 0) {"),
          new Mistake(
              "a region ends one byte late",
              "MemoryKey.java",
              "offset <= length - bytes;",
              "offset <= length - bytes + 1;"));

  private Mistakes() {}
}
