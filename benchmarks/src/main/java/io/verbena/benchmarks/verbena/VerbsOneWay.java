// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.verbena;

import io.verbena.benchmarks.work.Deadline;
import io.verbena.benchmarks.work.MessageCheck;
import io.verbena.benchmarks.work.MessageSource;
import io.verbena.benchmarks.work.OneWay;
import io.verbena.benchmarks.work.SecondThread;
import io.verbena.benchmarks.work.Spin;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.util.concurrent.TimeoutException;

/**
 * SEND and RECV one way at the verbs SPI. The consumer returns credits: a SEND with immediate for
 * each group of receives that it has posted again.
 */
public final class VerbsOneWay implements OneWay {
  private static final int WINDOW_BYTES = 512 << 10;
  private static final int MOST_RECEIVES = 512;
  private static final int CREDITS_IN_WINDOW = 4;
  private static final int TOGETHER = 16;

  private final int receives;
  private final int credit;
  private final VerbsPair pair = new VerbsPair();
  private final SendRing messages;
  private final ReceiveRing atServer;
  private final ReceiveRing atClient;
  private final SendWorkRequest creditRequest = new SendWorkRequest();
  private final WorkCompletion[] creditCompletions = WorkCompletion.array(CREDITS_IN_WINDOW);
  private final SecondThread second = new SecondThread();
  private long credits;
  private int uncredited;

  public VerbsOneWay(int size) throws Exception {
    receives = Math.min(MOST_RECEIVES, WINDOW_BYTES / size);
    credit = receives / CREDITS_IN_WINDOW;
    credits = receives;
    messages = new SendRing(pair.client, pair.atClient, size, Math.max(1, credit / 2), TOGETHER);
    atServer = new ReceiveRing(pair.server, pair.atServer, size, receives);
    atClient = new ReceiveRing(pair.client, pair.atClient, Long.BYTES, 2 * CREDITS_IN_WINDOW);
  }

  @Override
  public void transfer(long count, MessageSource source, MessageCheck check, Deadline deadline)
      throws Exception {
    second.together(
        spin -> consume(count, check, spin), spin -> produce(count, source, spin), deadline);
  }

  private void produce(long count, MessageSource source, Spin spin) throws TimeoutException {
    for (long i = 0; i < count; i++) {
      while (credits == 0) {
        messages.flush();
        takeCredits();
        spin.spin();
      }
      credits--;
      source.next(messages.next(spin));
      messages.post();
    }
    messages.flush();
  }

  private void takeCredits() {
    int arrived = atClient.poll();
    for (int i = 0; i < arrived; i++) {
      credits += atClient.immediate(i);
      atClient.repost(i);
    }
  }

  private void consume(long count, MessageCheck check, Spin spin) throws TimeoutException {
    long left = count;
    while (left > 0) {
      int arrived = atServer.poll();
      if (arrived == 0) {
        spin.spin();
      }
      for (int i = 0; i < arrived; i++) {
        check.accept(atServer.message(i), atServer.length(i));
        if (--left == 0) {
          check.whole(atServer.message(i));
        }
      }
      atServer.repost(0, arrived);
      uncredited += arrived;
      if (uncredited >= credit) {
        giveCredit(spin);
      }
    }
  }

  private void giveCredit(Spin spin) throws TimeoutException {
    pair.atServer.postSend(creditRequest.sendWithImmediate(uncredited).signaled());
    uncredited = 0;
    while (pair.server.sent.poll(creditCompletions) == 0) {
      spin.spin();
    }
    Completions.check(creditCompletions[0]);
  }

  @Override
  public void close() {
    second.close();
    pair.close();
  }
}
