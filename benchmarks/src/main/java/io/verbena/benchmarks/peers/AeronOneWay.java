// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.peers;

import io.aeron.ExclusivePublication;
import io.aeron.FragmentAssembler;
import io.aeron.Image;
import io.aeron.Subscription;
import io.aeron.logbuffer.FragmentHandler;
import io.aeron.logbuffer.Header;
import io.verbena.benchmarks.work.Deadline;
import io.verbena.benchmarks.work.MessageCheck;
import io.verbena.benchmarks.work.MessageSource;
import io.verbena.benchmarks.work.OneWay;
import io.verbena.benchmarks.work.SecondThread;
import java.util.concurrent.TimeoutException;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/** Aeron IPC one way. The receiver reassembles messages above the largest MTU. */
public final class AeronOneWay implements OneWay {
  private static final int FRAGMENTS = 256;

  private final EmbeddedAeron aeron;
  private final ExclusivePublication publication;
  private final Subscription subscription;
  private final Image image;
  private final boolean invoked;
  private final SecondThread second = new SecondThread();

  public AeronOneWay(AeronMode mode, int termLength) throws TimeoutException {
    invoked = mode == AeronMode.INVOKER;
    aeron = new EmbeddedAeron(mode);
    subscription = aeron.subscription(1);
    publication = aeron.publication(1, termLength);
    image = aeron.connected(publication, subscription);
  }

  @Override
  public void transfer(long messages, MessageSource source, MessageCheck check, Deadline deadline)
      throws Exception {
    int size = source.size();
    second.together(
        spin -> {
          Receiver receiver = new Receiver(check, messages);
          FragmentHandler handler =
              size > publication.maxPayloadLength()
                  ? new FragmentAssembler(receiver, size, true)
                  : receiver;
          while (receiver.left > 0) {
            if (image.poll(handler, FRAGMENTS) == 0) {
              // Yield: a driver with a thread of its own needs one of the two CPUs.
              if (invoked) {
                spin.spin();
              } else {
                spin.yield();
              }
            }
          }
        },
        spin -> {
          UnsafeBuffer out = new UnsafeBuffer(Slot.memory(size, 1));
          AgronaView sent = new AgronaView().wrap(out, 0);
          source.prepare(sent);
          for (long i = 0; i < messages; i++) {
            source.next(sent);
            while (publication.offer(out, 0, size) < 0) {
              if (invoked) {
                aeron.invoke();
                spin.spin();
              } else {
                spin.yield();
              }
            }
          }
        },
        deadline);
  }

  @Override
  public void close() {
    second.close();
    aeron.close();
  }

  private static final class Receiver implements FragmentHandler {
    private final MessageCheck check;
    private final AgronaView view = new AgronaView();
    private long left;

    private Receiver(MessageCheck check, long messages) {
      this.check = check;
      this.left = messages;
    }

    @Override
    public void onFragment(DirectBuffer buffer, int offset, int length, Header header) {
      check.accept(view.wrap(buffer, offset), length);
      if (--left == 0) {
        check.whole(view);
      }
    }
  }
}
