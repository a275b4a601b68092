// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.stream;

import io.verbena.emulated.engine.TestHost;
import io.verbena.emulated.engine.TestRing;
import io.verbena.verbs.Access;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** One end of a stream under test. */
final class StreamEnd implements Placement {
  final TestHost host = new TestHost();
  final TestRing ring = new TestRing();
  final StreamEngine engine =
      new StreamEngine(new StreamOptions(false, 8, 1 << 20), host, this, ring);
  boolean forbidsPeers;
  private final Map<Integer, ByteBuffer> buffers = new HashMap<>();
  private final TestPipe in;
  private final TestPipe out;

  StreamEnd(TestPipe in, TestPipe out) {
    this.in = in;
    this.out = out;
  }

  void post(SendWorkRequest request) {
    ring.post(request.signaled());
  }

  void receive(long id, TestHost.Region into, int length) {
    host.receives.add(new ReceiveWorkRequest(2).id(id).buffer(into.address, length, into.key));
  }

  /** Runs the engine once; returns whether there was anything to do. */
  boolean turn() {
    int before = out.length();
    engine.writable();
    boolean unused = engine.send(out);
    boolean came = engine.receive(in);
    if (engine.state() == StreamEngine.State.ENDED) {
      out.end();
    }
    return came || out.length() > before;
  }

  @Override
  public boolean allows(Use use) {
    return !forbidsPeers || (use != Use.READ && use != Use.WRITE && use != Use.ATOMIC);
  }

  @Override
  public boolean permits(Use use, int key, long address, int length) {
    return find(use, key, address, length) != null;
  }

  @Override
  public AccessDenial denial(Use use, int key, long address, long length) {
    TestHost.Region region = host.find(key);
    if (region == null) {
      return AccessDenial.INVALID_TAG;
    }
    return (region.access & right(use)) != right(use)
        ? AccessDenial.ACCESS
        : AccessDenial.ofRange(address, length);
  }

  @Override
  public boolean show(Use use, int key, long address, int length, MemoryView view) {
    TestHost.Region found = find(use, key, address, length);
    if (found == null) {
      return false;
    }
    view.show(
        buffers.computeIfAbsent(key, same -> ByteBuffer.wrap(found.bytes)),
        (int) (address - found.address),
        length);
    return true;
  }

  private TestHost.@Nullable Region find(Use use, int key, long address, int length) {
    TestHost.Region region = host.find(key);
    return region != null
            && (region.access & right(use)) == right(use)
            && address >= region.address
            && address - region.address <= region.bytes.length - length
        ? region
        : null;
  }

  private static int right(Use use) {
    return switch (use) {
      case SEND -> 0;
      case SINK, RECEIVE -> Access.LOCAL_WRITE.bit();
      case READ -> Access.REMOTE_READ.bit();
      case WRITE -> Access.REMOTE_WRITE.bit();
      case ATOMIC -> Access.REMOTE_ATOMIC.bit();
    };
  }
}
