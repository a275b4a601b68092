// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.verbena;

import io.verbena.benchmarks.work.ByteBufferView;
import io.verbena.benchmarks.work.Deadline;
import io.verbena.benchmarks.work.OtherProcess;
import io.verbena.benchmarks.work.Pong;
import io.verbena.benchmarks.work.Spin;
import io.verbena.verbs.Access;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.QueuePair;
import java.net.URI;
import java.time.Duration;

/**
 * The other process of {@link WirePingPong}, {@link RemoteWrites} and {@link RemoteReads}: prints
 * its address and its memory that may be accessed, and then answers each message.
 */
final class WireOther {
  static final int RECEIVES = 16;

  private static final Duration LONGEST = Duration.ofHours(1);

  private WireOther() {}

  /**
   * Arguments: the address of its HCA, the size of the messages, and the size of the memory that
   * may be read and written.
   */
  public static void main(String[] arguments) throws Exception {
    OtherProcess.endWithParent();
    String hca = arguments[0];
    int size = Integer.parseInt(arguments[1]);
    int bytes = Integer.parseInt(arguments[2]);
    try (VerbsEnd end = new VerbsEnd(URI.create(hca))) {
      MemoryRegion target =
          end.register(
              end.allocate(bytes), Access.LOCAL_WRITE, Access.REMOTE_WRITE, Access.REMOTE_READ);
      ConnectionListener listener = end.keep(end.manager.listen(onAnyPort(URI.create(hca)), 1));
      System.out.println(
          new RemoteTarget(listener.address(), target.address(), target.rkey()).encode());
      echo(end, end.request(), size);
    }
  }

  private static URI onAnyPort(URI hca) {
    String options = hca.getRawQuery() == null ? "" : "?" + hca.getRawQuery();
    return URI.create(hca.getScheme() + "://" + hca.getRawAuthority() + ":0" + options);
  }

  private static void echo(VerbsEnd end, ConnectionIdentifier request, int size) throws Exception {
    QueuePair pair = end.queuePair(request);
    ReceiveRing pings = new ReceiveRing(end, pair, size, RECEIVES);
    SendRing pongs = new SendRing(end, pair, size, RECEIVES);
    end.accept(request);
    Pong pong = new Pong(size);
    Spin spin = Deadline.in(LONGEST).spin();
    while (true) {
      while (pings.poll() == 0) {
        spin.spin();
      }
      ByteBufferView ping = pings.message(0);
      pong.receive(ping, pings.length(0));
      pong.send(pongs.next(spin));
      pongs.post();
      pings.repost(0);
    }
  }

  /**
   * The address at which the other process listens, and its accessible memory.
   *
   * @param address the address of its listener
   */
  record RemoteTarget(URI address, long memory, int rkey) {
    String encode() {
      return address + " " + memory + " " + rkey;
    }

    static RemoteTarget decode(String line) {
      String[] parts = line.split(" ", -1);
      return new RemoteTarget(
          URI.create(parts[0]), Long.parseLong(parts[1]), Integer.parseInt(parts[2]));
    }
  }
}
