// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.cost;

import com.ibm.disni.RdmaEndpoint;
import com.ibm.disni.RdmaPassiveEndpointGroup;
import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvRecvWR;
import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.IbvSge;
import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.SVCPollCq;
import com.ibm.disni.verbs.SVCPostRecv;
import com.ibm.disni.verbs.SVCPostSend;
import io.verbena.benchmarks.work.DirectMemory;
import io.verbena.benchmarks.work.Spin;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.LinkedList;
import java.util.List;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * An endpoint of stock DiSNI, used as its documentation advises for speed: a passive group, whose
 * endpoints poll their own completions, and stateful calls that are prepared once and executed
 * repeatedly. For one thread.
 */
final class DisniEnd extends RdmaEndpoint implements Messages {
  private static final long SEND = -1;

  /** The interval at which the group's CM thread checks whether the group is closed. */
  private static final int CM_LOOKS_EVERY_MILLIS = 200;

  private final ByteBuffer block;
  private final ByteBuffer out = DirectMemory.allocate(Job.MESSAGE).order(ByteOrder.nativeOrder());
  private final ByteBuffer in =
      DirectMemory.allocate(Job.MESSAGE * Job.RECEIVES).order(ByteOrder.nativeOrder());
  private final List<IbvMr> regions = new ArrayList<>();
  private final List<SVCPostRecv> receives = new ArrayList<>();
  private final IbvWC[] completions = new IbvWC[Job.POLL];
  private final int[] arrived = new int[Job.RECEIVES];
  private SVCPostSend send;
  private SVCPollCq poll;
  private RemoteBlock target;
  private int firstArrived;
  private int arrivals;
  private int sent;

  @SuppressWarnings("NullAway.Init")
  DisniEnd(
      RdmaPassiveEndpointGroup<DisniEnd> group, RdmaCmId id, boolean atServer, ByteBuffer block)
      throws IOException {
    super(group, id, atServer);
    this.block = block;
  }

  /** Creates a group of endpoints that write from {@code block} or are written to there. */
  static RdmaPassiveEndpointGroup<DisniEnd> group(ByteBuffer block) throws IOException {
    RdmaPassiveEndpointGroup<DisniEnd> group =
        new RdmaPassiveEndpointGroup<>(
            CM_LOOKS_EVERY_MILLIS, Job.DEPTH, 1, Job.DEPTH + Job.RECEIVES);
    group.init((id, atServer) -> new DisniEnd(group, id, atServer, block));
    // Both are 0 by default, with which the first late receive would end the connection.
    group.getConnParam().setRetry_count((byte) 7);
    group.getConnParam().setRnr_retry_count((byte) 7);
    return group;
  }

  /**
   * {@inheritDoc}
   *
   * <p>DiSNI calls this method when the queue pair exists and the connection does not yet.
   */
  @Override
  protected synchronized void init() throws IOException {
    super.init();
    IbvMr blockRegion = register(block);
    target = new RemoteBlock(blockRegion.getAddr(), blockRegion.getRkey());
    IbvMr outRegion = register(out);
    send = postSend(one(sendRequest(IbvSendWR.IBV_WR_SEND, outRegion, Job.MESSAGE)));
    for (int i = 0; i < completions.length; i++) {
      completions[i] = new IbvWC();
    }
    poll = getCqProvider().getCQ().poll(completions, completions.length);
    IbvMr inRegion = register(in);
    for (int slot = 0; slot < Job.RECEIVES; slot++) {
      IbvRecvWR request = new IbvRecvWR();
      request.setWr_id(slot);
      request.setSg_list(
          list(inRegion.getAddr() + (long) slot * Job.MESSAGE, Job.MESSAGE, inRegion.getLkey()));
      SVCPostRecv receive = postRecv(one(request));
      receives.add(receive);
      receive.execute();
    }
  }

  private IbvMr register(ByteBuffer memory) throws IOException {
    IbvMr region = registerMemory(memory).execute().free().getMr();
    regions.add(region);
    return region;
  }

  private static IbvSendWR sendRequest(int opcode, IbvMr from, int length) {
    IbvSendWR request = new IbvSendWR();
    request.setWr_id(SEND);
    request.setOpcode(opcode);
    request.setSend_flags(IbvSendWR.IBV_SEND_SIGNALED);
    request.setSg_list(list(from.getAddr(), length, from.getLkey()));
    return request;
  }

  /** Creates a list of one entry. DiSNI requires this type. */
  @SuppressWarnings({"JdkObsolete", "NonApiType"})
  private static LinkedList<IbvSge> list(long address, int length, int key) {
    IbvSge entry = new IbvSge();
    entry.setAddr(address);
    entry.setLength(length);
    entry.setLkey(key);
    LinkedList<IbvSge> list = new LinkedList<>();
    list.add(entry);
    return list;
  }

  private static <T> List<T> one(T request) {
    List<T> list = new ArrayList<>(1);
    list.add(request);
    return list;
  }

  /** Returns the address and key of the block, for the other end. */
  RemoteBlock target() {
    return target;
  }

  @Override
  public void send(long number, Spin spin) throws IOException, TimeoutException {
    out.putLong(0, number);
    send.execute();
    while (sent == 0) {
      poll(spin);
    }
    sent--;
  }

  @Override
  public long receive(Spin spin) throws IOException, TimeoutException {
    while (arrivals == 0) {
      poll(spin);
    }
    int slot = arrived[firstArrived];
    firstArrived = (firstArrived + 1) % arrived.length;
    arrivals--;
    long number = in.getLong(slot * Job.MESSAGE);
    receives.get(slot).execute();
    return number;
  }

  /** Reads the first bytes of the block {@code rounds} times, one at a time. */
  void read(RemoteBlock from, int rounds, RoundTrips times, Spin spin)
      throws IOException, TimeoutException {
    SVCPostSend read = oneSided(IbvSendWR.IBV_WR_RDMA_READ, from, Job.MESSAGE);
    times.begin();
    for (int i = 0; i < rounds; i++) {
      read.execute();
      while (sent == 0) {
        poll(spin);
      }
      sent--;
      times.round();
    }
    read.free();
  }

  /** Writes the first {@code length} bytes of the block {@code count} times. */
  void write(RemoteBlock to, int count, int length, Spin spin)
      throws IOException, TimeoutException {
    SVCPostSend write = oneSided(IbvSendWR.IBV_WR_RDMA_WRITE, to, length);
    int posted = 0;
    int done = 0;
    while (done < count) {
      while (posted < count && posted - done < Job.DEPTH) {
        write.execute();
        posted++;
      }
      poll(spin);
      done += sent;
      sent = 0;
    }
    write.free();
  }

  private SVCPostSend oneSided(int opcode, RemoteBlock there, int length) throws IOException {
    IbvSendWR request = sendRequest(opcode, regions.get(0), length);
    request.getRdma().setRemote_addr(there.address());
    request.getRdma().setRkey(there.key());
    return postSend(one(request));
  }

  /** Polls sends and receives, which complete in one queue. */
  private void poll(Spin spin) throws IOException, TimeoutException {
    int count = poll.execute().getPolls();
    if (count == 0) {
      spin.spin();
    }
    for (int i = 0; i < count; i++) {
      IbvWC completion = completions[i];
      if (completion.getStatus() != 0) {
        throw new IOException("completion: status " + completion.getStatus() + " (expected: 0)");
      }
      if (completion.getWr_id() == SEND) {
        sent++;
      } else {
        Messages.checkLength(completion.getByte_len());
        arrived[(firstArrived + arrivals++) % arrived.length] = (int) completion.getWr_id();
      }
    }
  }

  /** Closes an end and its group. */
  static void close(@Nullable DisniEnd end, RdmaPassiveEndpointGroup<DisniEnd> group)
      throws IOException {
    try {
      if (end != null) {
        end.close();
      }
      group.close();
    } catch (InterruptedException e) {
      throw interrupted(e);
    }
  }

  static InterruptedIOException interrupted(InterruptedException cause) {
    Thread.currentThread().interrupt();
    InterruptedIOException failure = new InterruptedIOException("close: interrupted");
    failure.initCause(cause);
    return failure;
  }

  @Override
  public synchronized void close() throws IOException, InterruptedException {
    super.close();
    for (IbvMr region : regions) {
      deregisterMemory(region);
    }
    regions.clear();
  }
}
