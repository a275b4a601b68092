// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated;

import io.verbena.tck.Deviation;
import io.verbena.tck.IwarpDeviation;
import io.verbena.tck.KnownDeviations;
import io.verbena.tck.VerbsTck;
import java.net.URI;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;

/** The verbs TCK over TCP sockets. */
@Tag("once")
class IwarpVerbsTest extends VerbsTck {
  private static final int FEWER = 50;
  private static final AtomicInteger NEXT_PORT = new AtomicInteger(20_000);
  private static final ConcurrentHashMap<String, Integer> PORTS = new ConcurrentHashMap<>();

  private static final KnownDeviations KNOWN =
      KnownDeviations.iwarp()
          .always(IwarpDeviation.DONE_WHEN_SENT)
          .sometimes(
              IwarpDeviation.DONE_BEFORE_THE_ERROR,
              IwarpDeviation.FIRST_DONE_BEFORE_THE_ERROR,
              IwarpDeviation.DONE_OR_FLUSHED,
              IwarpDeviation.DONE_BEHIND_A_FAILURE,
              IwarpDeviation.NO_WAIT_FOR_A_RECEIVE,
              IwarpDeviation.ENDED_BY_EITHER_END)
          .add(
              IwarpDeviation.CONNECTED_BY_THE_MANAGER.always(),
              "CompletionQueues.growsAndKeepsWhatItHolds")
          .add(
              IwarpDeviation.DONE_WHEN_SENT.always(),
              "Invalidation.isDoneInTheOrderOfTheSendQueue",
              "Invalidation.killsAWindowWithAMessageBeforeItIsReceived",
              "Invalidation.killsTheKeyOfARegion",
              "Invalidation.killsTheKeyOfAWindow",
              "Invalidation.letsTheWindowBeBoundAgain",
              "SharedReceiveQueues.refusesAMessageThatIsLargerThanTheReceiveThatItGot")
          .add(
              // The client's completion comes too early, or the server's never comes.
              Deviation.sometimes(
                  "completion on the", IwarpDeviation.NO_WAIT_FOR_A_RECEIVE.sometimes().reason()),
              "SharedReceiveQueues.makesASenderWaitUntilAReceiveIsPosted")
          .add(
              // The queue pair fails a little later.
              IwarpDeviation.ENDED_BY_EITHER_END.sometimes(),
              "Posting.refusesAMessageBeyondTheDevicesMaximum")
          .add(
              Deviation.sometimes(
                  "messages received",
                  "what TCP has taken and the peer has not read when it disconnects is lost"),
              "Threads.completesEachRequestOnceWhenTheConnectionEndsMeanwhile")
          .add(
              new Deviation(
                  "LOC_QP_OP_ERR",
                  "the ends agree on how many READs may be outstanding (RFC 6581, section 9), so"
                      + " that one is refused at home"),
              "RemoteProtection.rejectsReadsIfThePeerServesNone");

  @Override
  protected @Nullable Deviation deviation(String test) {
    return KNOWN.of(test);
  }

  @Override
  protected int iterations(int full) {
    return Math.max(1, full / FEWER);
  }

  @Override
  protected URI address(String name) {
    int port = PORTS.computeIfAbsent(name, unused -> NEXT_PORT.getAndIncrement());
    return URI.create("iwarp://" + Loopbacks.ADDRESS + ":" + port);
  }
}
