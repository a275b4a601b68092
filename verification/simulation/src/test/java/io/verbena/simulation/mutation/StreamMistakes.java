// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.mutation;

import java.util.List;

/** Mistakes in the engine of iWARP. */
final class StreamMistakes {
  static final List<Mistake> ALL =
      List.of(
          of(
              "a header that is cut is read all the same",
              "stream/FpduReader.java",
              "    if (own.remaining() < length) {\n      return false;\n    }\n",
              "    if (own.remaining() < length) {\n      own.limit(own.position() + length);\n    }\n"),
          of(
              "a message is complete with its first segment",
              "stream/FpduReader.java",
              "return !header.isLast() || isWhole() || end();",
              "return isWhole() || end();"),
          of(
              "a SEND_WITH_INV of iWARP does not invalidate",
              "stream/InboundSends.java",
              "header.opcode().invalidates() && !host.invalidateRemotely(header.tag())",
              "header.opcode().invalidates() && header.tag() == 0"),
          of(
              "a READ is complete when it is asked for",
              "stream/Outbound.java",
              "      if (RequestOpcodes.isReadOrAtomic(request.opcode())) {\n        return;\n      }\n",
              ""),
          of(
              "FENCE is ignored by iWARP",
              "stream/Outbound.java",
              "(request.flags() & SendWorkRequest.FENCE) != 0 && reads > 0",
              "(request.flags() & SendWorkRequest.FENCE) != 0 && reads < 0"),
          of(
              "more READs are asked for than the peer serves",
              "stream/Outbound.java",
              "depth > 0 && reads >= depth;",
              "false;"),
          of(
                  "a WRITE puts each segment at its start",
                  "stream/Outbound.java",
                  "request.remoteAddress() + cut, length);",
                  "request.remoteAddress(), length);")
              .startingAt(850),
          of(
              "the answer to a READ goes on from the wrong place",
              "stream/ReadAtomicResponder.java",
              "      answer.sourceOffset += length;\n",
              ""),
          of(
              "a buffer that was sent whole is never free again",
              "stream/FpduWriter.java",
              "while (first < count && !parts[first].hasRemaining()) {",
              "while (first < count && parts[first].position() < 0) {"),
          of(
              "nothing is sent any more once the socket was full",
              "stream/StreamEngine.java",
              "  public void writable() {\n    full = false;\n",
              "  public void writable() {\n"),
          of(
              "a stream that is lost flushes nothing",
              "stream/StreamEngine.java",
              "      host.moved(QueuePairState.ERR);\n      flush();\n",
              "      host.moved(QueuePairState.ERR);\n"),
          of(
              "a receive that a cut message holds is lost",
              "stream/InboundMessage.java",
              "    fail(CompletionStatus.WR_FLUSH_ERR);\n    while",
              "    held = false;\n    while"),
          of(
              "an atomic is done while a READ before it is on its way out",
              "stream/ReadAtomicResponder.java",
              "(!ring[first].isAtomic || writer.written() >= readsEnd)",
              "readsEnd >= 0"),
          of(
              "an atomic is done twice",
              "stream/ReadAtomicResponder.java",
              "    AccessResult outcome = atomic.execute(request);\n",
              """
                  AccessResult outcome = atomic.execute(request);
                  outcome = atomic.execute(request);
              """),
          of(
              "an atomic is not counted with the READs",
              "stream/Outbound.java",
              "        addAtomicRequest(request);\n        reads++;\n",
              "        addAtomicRequest(request);\n"),
          of(
              "more atomics are asked for than the peer serves",
              "stream/Outbound.java",
              "case RDMA_READ, ATOMIC_CMP_AND_SWP, ATOMIC_FETCH_AND_ADD -> depth > 0 && reads >= depth;",
              "case RDMA_READ -> depth > 0 && reads >= depth;"),
          of(
              "an atomic that waits behind another does what was asked for before",
              "stream/ReadAtomicResponder.java",
              "    answer.atomic.copyFrom(request);\n    count++;\n",
              "    if (count == 0) {\n      answer.atomic.copyFrom(request);\n    }\n    count++;\n"),
          of(
              "immediate data comes without its WRITE",
              "stream/Outbound.java",
              "written ? addImmediate(request) : addSegment(request);",
              "addImmediate(request);"),
          of(
              "immediate data tells the length of WRITEs before its own",
              "stream/InboundWrites.java",
              "    if (ended) {\n      written = 0;\n    }\n",
              ""),
          of(
              "immediate data takes no receive",
              "stream/InboundMessage.java",
              "    held = false;\n    sequence++;\n    host.receiveDone(\n        receive.id(),\n        CompletionOpcode.RECV_RDMA_WITH_IMM,",
              "    sequence++;\n    host.receiveDone(\n        receive.id(),\n        CompletionOpcode.RECV_RDMA_WITH_IMM,"),
          of(
              "a peer that has no extensions is asked for some",
              "IwarpQueuePair.java",
              "    peerHasExtensions = terms.extensions();\n",
              ""),
          of(
              "a stream is not closed when its engine has ended",
              "TcpStream.java",
              "      case IDLE, ENDED -> shut();",
              "      case IDLE, ENDED -> {}"),
          of(
              "a stream that is broken is not lost",
              "stream/StreamEngine.java",
              "      lost();\n      return true;\n",
              "      return true;\n"),
          of(
              "a byte that is in a record already is sealed again",
              "SealedOutput.java",
              "        ahead = all == 0;\n",
              "        ahead = false;\n        from[last].position(from[last].position() - 1);\n"),
          of(
              "the rest of a record waits for nobody",
              "SealedOutput.java",
              "      from[last].position(from[last].position() - 1);\n      ahead = true;\n      taken--;\n",
              ""),
          of(
              "a frame of MPA that is cut is taken all the same",
              "frame/MpaFrame.java",
              "length < HEADER_LENGTH + data ? MpaFault.TOO_SHORT : MpaFault.NONE",
              "MpaFault.NONE"));

  private StreamMistakes() {}

  private static Mistake of(String name, String file, String right, String wrong) {
    return new Mistake(
        name, "transport-emulated/src/main/java/io/verbena/emulated/iwarp/" + file, right, wrong);
  }
}
