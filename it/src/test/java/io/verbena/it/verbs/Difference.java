package io.verbena.it.verbs;

import io.verbena.tck.Deviation;
import io.verbena.verbs.CompletionStatus;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Where Soft-RoCE (rdma_rxe, Linux 6.1, with rdma-core 44) does not answer as the specification
 * asks, with the reason. The emulated HCA answers as specified in all of them.
 */
@SuppressWarnings("ImmutableEnumChecker") // List.of and Map.of are
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
      "QueuePairTransitions.startsNothingNewWhileItIsDrained");

  private final String reason;
  private final Map<CompletionStatus, CompletionStatus> answers;
  private final @Nullable String failure;
  private final List<String> tests;

  Difference(String reason, Map<CompletionStatus, CompletionStatus> answers, String... tests) {
    this.reason = reason;
    this.answers = answers;
    this.failure = null;
    this.tests = List.of(tests);
  }

  Difference(String reason, String failure, String... tests) {
    this.reason = reason;
    this.answers = Map.of();
    this.failure = failure;
    this.tests = List.of(tests);
  }

  String reason() {
    return reason;
  }

  /** The difference that a test shows, or null. */
  static @Nullable Difference of(String test) {
    return Arrays.stream(values()).filter(each -> each.tests.contains(test)).findAny().orElse(null);
  }

  /** What rxe answers in this test where {@code specified} is asked for. */
  public static CompletionStatus answer(String test, CompletionStatus specified) {
    Difference difference = of(test);
    return difference == null ? specified : difference.answers.getOrDefault(specified, specified);
  }

  /** How rxe fails a whole test, or null. */
  public static @Nullable Deviation deviation(String test) {
    Difference difference = of(test);
    return difference == null || difference.failure == null
        ? null
        : new Deviation(difference.failure, difference.reason);
  }
}
