// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.verbs;

import io.verbena.tck.Deviation;
import io.verbena.verbs.CompletionStatus;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The answers of Soft-RoCE (rdma_rxe, Linux 6.1, with rdma-core 44) that violate the specification,
 * with the reasons. The emulated HCA answers as specified in all of them.
 */
@SuppressWarnings("ImmutableEnumChecker") // List.of and Map.of are immutable
public enum Difference {
  LOCAL_PROTECTION(
      "a send from a buffer whose lkey is unknown, closed or of another domain, and a receive that may"
          + " not be written for whatever reason: rxe fails them as broken requests (rxe_req.c turns only"
          + " EFAULT into LOC_PROT_ERR, rxe_resp.c takes the receive for malformed). Specified:"
          + " LOC_PROT_ERR (IBTA vol. 1, local protection error; ibv_poll_cq(3))",
      Map.of(CompletionStatus.LOC_PROT_ERR, CompletionStatus.LOC_QP_OP_ERR),
      "LocalProtection.rejectsASendFromAWrongKey",
      "LocalProtection.rejectsASendFromMemoryThatIsNotRegistered",
      "LocalProtection.rejectsASendFromARegionThatIsClosed",
      "LocalProtection.rejectsASendFromARegionOfAnotherDomain",
      "LocalProtection.rejectsAMessageOfWhichOneBufferIsBad",
      "LocalProtection.rejectsAWriteFromAWrongKey",
      "LocalProtection.rejectsAReceiveIntoARegionWithoutLocalWrite",
      "LocalProtection.rejectsAReceiveWithAWrongKey",
      "LocalProtection.rejectsAReceiveBeyondTheRegion",
      "LocalProtection.rejectsAReceiveIntoARegionOfAnotherDomain",
      "LocalProtection.rejectsAReceiveIntoARegionThatWasClosedAfterPosting"),

  RECEIVE_TOO_SMALL(
      "a SEND larger than the receive: rxe takes it for a malformed receive, and tells the sender of"
          + " its own failure (rxe_resp.c, send_data_in). Specified: LOC_LEN_ERR at the receive and"
          + " NAK invalid request, REM_INV_REQ_ERR at the sender (IBTA vol. 1, local length error and invalid request NAK)",
      Map.of(
          CompletionStatus.LOC_LEN_ERR, CompletionStatus.LOC_QP_OP_ERR,
          CompletionStatus.REM_INV_REQ_ERR, CompletionStatus.REM_OP_ERR),
      "SendAndReceive.refusesAMessageThatIsLargerThanAllBuffersOfTheReceive",
      "SendAndReceive.refusesAMessageThatIsLargerThanTheReceive",
      "SendAndReceive.refusesAMessageThatDoesNotFitAReceiveWithoutBuffers",
      "ReceiverNotReady.failsWhenTheReceiveThatComesIsTooSmall"),

  MESSAGE_TOO_LONG(
      "a message beyond the port's max_msg_sz: rxe fails the request as a broken one. Specified:"
          + " LOC_LEN_ERR (IBTA vol. 1, local length error)",
      Map.of(CompletionStatus.LOC_LEN_ERR, CompletionStatus.LOC_QP_OP_ERR),
      "Posting.refusesAMessageBeyondTheDevicesMaximum"),

  MISALIGNED_ATOMIC(
      "an atomic on an address that is not a multiple of 8: rdma-core's rxe provider refuses it at the"
          + " post with EINVAL (validate_send_wr), so it never travels. Specified: the responder"
          + " refuses it, REM_INV_REQ_ERR (IBTA vol. 1, atomic operations)",
      "refused with errno 22",
      "Atomics.rejectsAnAddressThatIsNotAligned"),

  OVERRUN_GOES_ON(
      "a completion queue that overran: rxe raises CQ_ERR and drops the completion, but the queue pair"
          + " works on. Specified: the queue pairs that complete there go to ERR (IBTA vol. 1, CQ errors)",
      "queue pair in ERR",
      "CompletionQueues.raisesAnEventAndStopsTheQueuePairWhenItOverruns"),

  DRAINED_FOR_EVER(
      "a request posted in SQD: rxe begins it only when something else wakes its requester after the"
          + " return to RTS (rxe_qp.c: no task is run then). Specified: it begins on the return to RTS"
          + " (IBTA vol. 1, queue pair states)",
      "no completion on the send completion queue",
      "QueuePairTransitions.startsNothingNewWhileItIsDrained"),

  DRAINED_FOR_EVER_TOO(
      "a request posted in SQD or still outstanding there: as above, seen from the end that"
          + " drains",
      "no completion on the client's send completion queue",
      "Draining.finishesWhatIsOutstandingBeforeItSaysThatItIsDrained",
      "Draining.holdsWhatIsPostedBehindWhatIsStillOutstanding"),

  DRAINED_UNASKED(
      "SQD without EN_SQD_ASYNC_NOTIFY: rxe raises SQ_DRAINED all the same. Specified: only"
          + " if it was asked (ibv_modify_qp(3))",
      "unexpected asynchronous event",
      "Draining.saysNothingIfItWasNotAsked"),

  NO_SEND_QUEUE_ERROR(
      "a send of UC or UD that fails by itself: rxe fails it as a broken request, and the"
          + " whole queue pair goes to ERR. Specified: LOC_PROT_ERR, and the send queue alone"
          + " stops, in SQE (IBTA vol. 1, queue pair states)",
      "but was: LOC_QP_OP_ERR",
      "Datagrams.stopsOnlyItsSendQueueWhenItFailsItself",
      "Datagrams.receivesWhileItsSendQueueIsStopped",
      "UnreliableConnections.failsItselfEvenWhenNobodyListens",
      "UnreliableConnections.sendsAgainOnceItsSendErrorIsMended",
      "UnreliableConnections.stopsOnlyItsSendQueueWhenItFailsItself",
      "QueuePairTransitions.leavesSendErrorAsTheTableSays",
      "UnreliableConnectionTransitions.leavesSendErrorAsTheTableSays",
      "DatagramTransitions.leavesSendErrorAsTheTableSays",
      "AsyncEvents.saysNothingOfAnErrorThatACompletionTells"),

  UNRELIABLE_RECEIVE(
      "a message of UC or UD that its receive cannot take: rxe fails the receive as a"
          + " broken one and stops the queue pair. Specified: the message is lost if it is too"
          + " large, and LOC_PROT_ERR where the receive may not be written (IBTA vol. 1, UC and UD"
          + " responder)",
      "but was: LOC_QP_OP_ERR",
      "Datagrams.keepsTheReceiveOfAMessageThatIsTooLargeForIt",
      "Datagrams.needsRoomForTheFortyBytes",
      "Datagrams.stopsAtAReceiveThatMayNotBeWritten",
      "UnreliableConnections.keepsTheReceiveOfAMessageThatIsTooLargeForIt",
      "UnreliableConnections.stopsAtAReceiveThatMayNotBeWritten"),

  LOCAL_KEY(
      "a local request under the key of a window: rxe fails it as a broken one, as above."
          + " Specified: LOC_PROT_ERR",
      "but was: LOC_QP_OP_ERR",
      "MemoryWindows.isNoKeyForLocalRequests",
      "MemoryWindowsOfType1.isNoKeyForLocalRequests"),

  SHARED_RECEIVE_TOO_SMALL(
      "a SEND larger than the shared receive that it got: rxe answers as in \"receive too"
          + " small\"",
      "but was: REM_OP_ERR",
      "SharedReceiveQueues.refusesAMessageThatIsLargerThanTheReceiveThatItGot"),

  CONTROLLED_QUEUE_KEY(
      "a queue key with the high bit set: rxe sends it as it is. Specified: the queue"
          + " pair's own is sent in its place (IBTA vol. 1, queue keys)",
      "whether it was the second message that arrived",
      "Datagrams.sendsItsOwnQueueKeyWhereTheHighBitAsksForIt"),

  UNCONNECTED_SENDER(
      "a message of UC from a queue pair that the receiver is not connected to: a packet of"
          + " UC names no sender but its port, and rxe takes it. The direct fabric knows the"
          + " sender",
      "expected: WR_FLUSH_ERR",
      "UnreliableConnections.takesNothingFromAQueuePairThatItIsNotConnectedTo"),

  WINDOW_RANGE(
      "a request through a window, beyond it and within its region: rxe checks the region"
          + " only (rxe_mr.c). Specified: REM_ACCESS_ERR (IBTA vol. 1, memory windows)",
      "expected: REM_ACCESS_ERR",
      "MemoryWindows.rejectsAWriteBeforeTheWindow",
      "MemoryWindows.rejectsAReadBeyondTheWindow",
      "MemoryWindowsOfType1.rejectsAWriteBeforeTheWindow",
      "MemoryWindowsOfType1.rejectsAReadBeyondTheWindow"),

  WINDOW_OF_ANOTHER_DOMAIN(
      "a bind to a region of another domain, or of a type 1 window through a queue pair of another: rxe"
          + " compares neither (rxe_mw.c, rxe_check_bind_mw), and binds. Specified: MW_BIND_ERR (IBTA"
          + " vol. 1, bind memory window)",
      "no completion on the server's send completion queue",
      "MemoryWindows.isNotBoundToARegionOfAnotherDomain",
      "MemoryWindowsOfType1.isNotBoundThroughAQueuePairOfAnotherDomain"),

  REGION_WITH_A_WINDOW(
      "deregistering a region with a window: rxe refuses with EINVAL, where EBUSY is meant"
          + " (ibv_dereg_mr(3))",
      "[EINVAL]",
      "MemoryWindows.keepsItsRegionBusy",
      "MemoryWindowsOfType1.keepsItsRegionBusyUntilItIsBoundToAnother",
      "Invalidation.freesTheRegionOfTheWindow"),

  INVALIDATED_BY_ANOTHER(
      "a LOCAL_INV of a window through another queue pair than the one that bound it: rxe does not"
          + " compare them (rxe_mw.c, rxe_check_invalidate_mw), and invalidates. Specified:"
          + " LOC_QP_OP_ERR",
      "no completion on the",
      "Invalidation.failsForAWindowThatAnotherQueuePairHasBound"),

  INVALIDATED_BY_A_STRANGER(
      "a SEND_WITH_INV of a window of another connection: as above, so the receive succeeds",
      "but was: SUCCESS",
      "Invalidation.failsAtTheReceiverForAWindowOfAnotherConnection"),

  INVALIDATION_UNTOLD(
      "a SEND_WITH_INV: the completion does not tell the key on rxe",
      "the flag WITH_INV",
      "Invalidation.tellsTheReceiverWhichKeyItKilled"),

  REGION_NOT_INVALIDATED(
      "a LOCAL_INV of a region: rxe takes none of a region that was registered by a program",
      "but was: LOC_QP_OP_ERR",
      "Invalidation.killsTheKeyOfARegion",
      "Invalidation.killsTheLocalKeyOfARegionToo"),

  OVERRUN_OF_THE_NEW_DEPTH(
      "a completion queue that overran its new depth: as in \"overrun goes on\"",
      "queue pair in ERR",
      "ResizedCompletionQueues.holdsNoMoreThanItsNewDepth"),

  DRAINED_ADDRESS(
      "a new address vector for a drained queue pair of UC: rxe refuses it with EINVAL. Specified: it may"
          + " be changed in SQD (IBTA vol. 1, modify queue pair)",
      "SQD to SQD with [AV]",
      "UnreliableConnectionTransitions.takesEachOptionalAttribute"),

  NO_REREGISTRATION(
      "re-registration: rxe of Linux 6.1 has none, so nothing is there to be rejected; that it is refused is"
          + " asserted in its place",
      Map.of(),
      "Reregistration.letsNobodyReachTheOldMemory",
      "Reregistration.locksQueuePairsOfTheOldDomainOut",
      "Reregistration.takesTheRightsThatItIsNotGivenAgain"),

  BACKLOG_OF_DATAGRAMS(
      "a request for datagrams that does not fit the backlog: the kernel rejects it at once (cm.c,"
          + " cm_destroy_id answers every SIDR_REQ, and leaves a REQ without an answer where ucma.c had no"
          + " room for it). In the SPI it is the same for both: no answer, and asked again",
      "but was: 2",
      "DatagramServices.leavesARequestWithoutAnAnswerThatDoesNotFitTheBacklog"),

  HEADER_WITHOUT_CHECKSUM(
      "the way back from a datagram that a device sent to itself over IPv4: rxe shows a header without"
          + " a checksum, as only ip_local_out computes it (rxe_net.c, prepare_ipv4_hdr), and so it is none."
          + " Specified: the IP header of the packet (IBTA annex A17; ibv_init_ah_from_wc(3))",
      "neither IPv4 nor IPv6",
      "DatagramServices.leadsAnswersBackToWhoAsked"),

  EVENTS_UNTOLD(
      "QP_LAST_WQE_REACHED, COMM_EST, QP_ACCESS_ERR, QP_REQ_ERR and QP_FATAL: rxe raises"
          + " them for no such cause (rxe_resp.c raises none of user queue pairs). Specified: IBTA"
          + " vol. 1, asynchronous events",
      "but was: null",
      "SharedReceiveQueues.tellsThatAQueuePairInErrorTakesNoMoreReceives",
      "AsyncEvents.tellsOfTheFirstMessageThatArrivesBeforeTheQueuePairMaySend",
      "AsyncEvents.tellsOfTheFirstMessageOfAnUnreliableConnectionToo",
      "AsyncEvents.tellsTheResponderOfARequestThatItsMemoryDoesNotAllow",
      "AsyncEvents.tellsTheResponderOfARequestThatItsQueuePairDoesNotAllow",
      "AsyncEvents.tellsOfTheQueueThatOverranAndThenOfTheQueuePairThatItStopped"),

  FENCED_BY_ITSELF(
      "a READ or atomic with a fence that is to be repeated: it still counts as one of those under way, for which"
          + " rxe has it wait (rxe_req.c, rxe_wqe_is_fenced): it is never sent again. Specified: a fence"
          + " waits for requests before it (IBTA vol. 1, fence)",
      /* always= */ false,
      Deviation.REQUESTER_BEHIND,
      "RandomPrograms.followTheModelOfOneConnection",
      "RandomPrograms.followTheirModelsSideBySide"),

  KEY_CHECKED_EARLY(
      "a key that is taken away while a peer uses it: rxe looks the window up, lets it go and then copies"
          + " the packet (rxe_resp.c, check_rkey), and neither a bind nor a LOCAL_INV waits for that: now and"
          + " then a packet is written behind their completion. Specified: none is (IBTA vol. 1, memory"
          + " windows)",
      /* always= */ false,
      "differs from pattern 5",
      "Invalidation.letsNoByteThroughOnceItHasCompleted",
      "MemoryWindowsOfType1.letsNoByteThroughUnderTheOldKeyOnceItIsBoundAgain");

  private final String reason;
  private final Map<CompletionStatus, CompletionStatus> answers;
  private final @Nullable String failure;
  private final boolean always;
  private final List<String> tests;

  Difference(String reason, Map<CompletionStatus, CompletionStatus> answers, String... tests) {
    this.reason = reason;
    this.answers = answers;
    this.failure = null;
    this.always = true;
    this.tests = List.of(tests);
  }

  Difference(String reason, String failure, String... tests) {
    this(reason, /* always= */ true, failure, tests);
  }

  Difference(String reason, boolean always, String failure, String... tests) {
    this.reason = reason;
    this.answers = Map.of();
    this.failure = failure;
    this.always = always;
    this.tests = List.of(tests);
  }

  String reason() {
    return reason;
  }

  /** Returns the difference that a test shows, or null. */
  static @Nullable Difference of(String test) {
    return Arrays.stream(values()).filter(each -> each.tests.contains(test)).findAny().orElse(null);
  }

  /** Returns rxe's answer in this test where the specification requires {@code specified}. */
  public static CompletionStatus answer(String test, CompletionStatus specified) {
    Difference difference = of(test);
    return difference == null ? specified : difference.answers.getOrDefault(specified, specified);
  }

  /** Returns how rxe fails a whole test, or null. */
  public static @Nullable Deviation deviation(String test) {
    Difference difference = of(test);
    return difference == null || difference.failure == null
        ? null
        : new Deviation(difference.failure, difference.reason, difference.always);
  }
}
