package io.verbena.reactor.connection;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.verbena.HcaException;
import io.verbena.MemoryLimitException;
import io.verbena.RdmaException;
import io.verbena.core.memory.Exposure;
import io.verbena.core.memory.Location;
import io.verbena.meters.ConnectionMeter;
import io.verbena.meters.Credit;
import io.verbena.reactor.wire.FrameLayout;
import io.verbena.reactor.wire.Handshake;
import io.verbena.reactor.wire.ProtocolException;
import io.verbena.reactor.wire.RecordLayout;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.VerbsException;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * What goes to the peer in frames. Three counts hold it back, each of its own: slots of the send
 * queue, frame credits (the peer's receives) and message credits (the peer's demand, which {@link
 * CreditShares} shares among the sends).
 *
 * <p><b>Why frame credits cannot run out for good.</b> Frames with data leave the last two credits
 * alone, and so do all others but those that return at least {@code T >= 2} credits, where {@code T
 * = max(2, depth / 4)}; such a one is sent as soon as T are to be returned and one credit is left.
 * Let all frames have arrived, nothing more be sent, and an end A have two credits or less. Then B
 * owes A at least {@code depth - 2 >= T}. B sends nothing only if it has no credit at all, and then
 * A owes B its whole depth, which is at least T, and A too must have none. Take the last frame of
 * all, sent by A, say. It left A less than two credits, so it returned T or more to B, and B has
 * sent nothing since: B has credits. Contradiction. And frames that return credits do not breed
 * each other: each costs one and returns two or more.
 */
final class Outbound {
  /** Frame credits that are left for returning credits. */
  static final int RESERVED_FRAMES = 2;

  /** Bytes of long messages that wait for the peer to pull them; or else so many messages. */
  private static final int MOST_EXPOSED = 256 << 10;

  /** From here on it is cheaper to have the HCA gather a message than to copy it. */
  private static final int GATHER_FROM = 1024;

  private final Connection connection;
  private final Workbench bench;
  private final SendQueue sends;
  private final ConnectionMeter meter;
  private final Inbound inbound;
  private final Immediates immediates;
  private final Allowance frames;
  private final CreditShares shares;
  private final Allowance notices;
  private final int eagerLimit;
  private final int dataLimit;
  private final int longest;
  private final boolean gathers;
  private final int signalEvery;

  private final ArrayDeque<WriteOperation> waitingNotices = new ArrayDeque<>();
  private final ArrayDeque<Exposed> exposed = new ArrayDeque<>();
  private final @Nullable OutFrame[] flying;
  private @Nullable OutFrame open;
  private int opened;
  private int arrived;
  private int unsignaled;
  private int firstExposed;
  private long exposedBytes;
  private boolean halted;
  private boolean stuck;
  private int stuckSince;
  private boolean closeWanted;
  private boolean closeSent;
  private boolean closeArrived;

  Outbound(
      Connection connection,
      Workbench bench,
      SendQueue sends,
      Inbound inbound,
      Immediates immediates,
      Handshake own,
      Handshake peer,
      boolean gathers) {
    this.connection = connection;
    this.bench = bench;
    this.sends = sends;
    meter = connection.meter();
    this.inbound = inbound;
    this.immediates = immediates;
    this.gathers = gathers;
    frames = new Allowance("frames", peer.receiveDepth());
    shares = new CreditShares(peer.window());
    notices = new Allowance("immediates", peer.window());
    eagerLimit = Math.min(own.eagerSize(), peer.eagerSize());
    dataLimit = FrameLayout.dataLimit(eagerLimit);
    longest = peer.maxMessageSize();
    signalEvery = Math.max(1, sends.capacity() / 2);
    flying = new @Nullable OutFrame[sends.slots() * 2];
  }

  // ---- credits

  /** Takes the grants of a frame's header. */
  void granted(int newFrames, int newMessages, int newNotices) {
    frames.raise(newFrames);
    notices.raise(newNotices);
    shares.granted(newMessages);
  }

  /** Credits that are not used; a moment old where another thread asks. */
  int credits(Credit kind) {
    return switch (kind) {
      case RECEIVE -> frames.left();
      case MESSAGE -> shares.left();
      case IMMEDIATE -> notices.left();
    };
  }

  /** Whether a WRITE may take one of the peer's receives. */
  boolean mayNotify() {
    return notices.left() > 0 && frames.left() > RESERVED_FRAMES;
  }

  /** Uses up what a WRITE with immediate takes of the peer. */
  void notified() {
    notices.use();
    frames.use();
  }

  /** Whether a notice may be promised to a WRITE on a device without immediate data. */
  boolean mayPromiseNotice() {
    return notices.left() > 0;
  }

  void promiseNotice() {
    notices.use();
  }

  // ---- sends

  void start(SendOperation send) {
    shares.start(send);
  }

  /** The send's upstream is there. */
  void subscribed() {
    shares.distribute();
  }

  int sendCount() {
    return shares.count();
  }

  /** Credits that a send asked for and will not use. */
  void giveBack(int credits) {
    shares.giveBack(credits);
  }

  /**
   * A send is over.
   *
   * @param held how many of its messages stand in the queue
   */
  void end(SendOperation send, int held) {
    shares.end(send, held);
  }

  /** Takes the next message of a send, which used up one of the credits it had asked for. */
  void offer(SendOperation send, ByteBuf message, int length) {
    shares.came(length > eagerLimit);
    if (!shares.mayPlace() || !place(send, message, length)) {
      shares.addWaiting(send);
      send.hold(message);
    }
    connection.endTurnLater();
  }

  /** The longest message that the peer accepts. */
  int longest() {
    return longest;
  }

  /** Puts a message into a frame; answers false if there is no place yet. */
  private boolean place(SendOperation send, ByteBuf message, int length) {
    if (halted) {
      return false;
    }
    if (length > eagerLimit) {
      return announce(send, message, length);
    }
    OutFrame frame = room(RecordLayout.HEADER_LENGTH + length);
    if (frame == null) {
      return false;
    }
    shares.use();
    send.placed(frame.number);
    meter.sent(length);
    Location at = bench.location();
    if (length >= GATHER_FROM
        && gathers
        && bench.memory().locate(message, message.readerIndex(), length, at)) {
      frame.gather(message, length, at);
    } else {
      frame.message(message, length);
      message.release();
    }
    return true;
  }

  /**
   * Whether the peer has long messages enough to pull: more would but push others out of caches.
   */
  private boolean isExposedEnough() {
    return exposedBytes >= MOST_EXPOSED && exposed.size() >= CreditShares.MOST_LONG_AT_ONCE;
  }

  private boolean announce(SendOperation send, ByteBuf message, int length) {
    if (isExposedEnough()) {
      return false;
    }
    OutFrame frame = room(RecordLayout.RENDEZVOUS_LENGTH);
    if (frame == null) {
      return false;
    }
    ByteBuf source = message;
    try {
      source = registrable(message, length);
      Exposure exposure = bench.memory().expose(source, source.readerIndex(), length);
      int id = firstExposed + exposed.size();
      exposed.add(new Exposed(send, source, exposure, length));
      exposedBytes += length;
      shares.use();
      send.placed(frame.number);
      send.exposed();
      meter.sent(length);
      frame.rendezvous(length, id, exposure.rkey(), exposure.address());
    } catch (RdmaException e) {
      source.release();
      send.fail(e);
    }
    return true;
  }

  /** The message itself if the HCA can reach it, else a copy in its place. */
  private ByteBuf registrable(ByteBuf message, int length) {
    if (bench.memory().locate(message, message.readerIndex(), length, bench.location())
        || (message.isDirect() && message.nioBufferCount() == 1 && !message.isReadOnly())) {
      return message;
    }
    ByteBufAllocator allocator = bench.memory().allocator();
    ByteBuf copy = allocator.directBuffer(length, length);
    copy.writeBytes(message, message.readerIndex(), length);
    message.release();
    return copy;
  }

  /** Places what waits, in the order in which it came, as far as credits and slots go. */
  private void placeWaiting() {
    SendOperation send = shares.takeReady();
    if (send == null) {
      return;
    }
    while (send != null) {
      ByteBuf message = send.takeHeld();
      if (!place(send, message, message.readableBytes())) {
        shares.addWaitingAgain(send);
        send.holdAgain(message);
        return;
      }
      send.completeIfArrived();
      send = shares.takeReady();
    }
    if (shares.isNoneWaiting()) {
      shares.distribute();
    }
  }

  /** Has the peer told of a WRITE, in a frame behind it. */
  void notice(WriteOperation write) {
    waitingNotices.add(write);
    connection.endTurnLater();
  }

  private void placeNotices() {
    WriteOperation write = waitingNotices.peek();
    while (write != null) {
      OutFrame frame = room(RecordLayout.IMMEDIATE_LENGTH);
      if (frame == null) {
        return;
      }
      frame.immediate(write.noticeLength(), write.immediate());
      frame.tell(write);
      waitingNotices.poll();
      write = waitingNotices.peek();
    }
  }

  /** The peer has read all up to {@code id}. */
  void done(int id) {
    int count = id - firstExposed + 1;
    if (count < 1 || count > exposed.size()) {
      throw ProtocolException.malformed(
          "done", id, firstExposed + ".." + (firstExposed + exposed.size() - 1));
    }
    for (int i = 0; i < count; i++) {
      Exposed first = exposed.remove();
      firstExposed++;
      exposedBytes -= first.length();
      first.close();
      first.send().read();
    }
  }

  // ---- frames

  private boolean mayPostData() {
    return frames.left() > RESERVED_FRAMES && sends.free() > 0;
  }

  /** The open frame if it has room, or else the next; null if neither can be. */
  private @Nullable OutFrame room(int length) {
    OutFrame frame = open;
    if (frame != null) {
      if (frame.hasRoom(length, dataLimit)) {
        return frame;
      }
      if (!mayPostData()) {
        return null;
      }
      // Another frame follows in this turn, and its completion retires this one too.
      boolean last = frames.left() <= RESERVED_FRAMES + 1 || sends.free() <= 1;
      postOpen(frame, last || ++unsignaled >= signalEvery);
    }
    if (!mayPostData()) {
      return null;
    }
    try {
      frame = bench.takeFrame();
    } catch (MemoryLimitException e) {
      // Frames come back as completions are polled, and memory as subscribers release it; the next
      // tick tries again.
      return null;
    }
    frame.open(this, true);
    frame.number = opened++;
    flying[frame.number & flying.length - 1] = frame;
    open = frame;
    return frame;
  }

  private void postOpen(OutFrame frame, boolean signaled) {
    open = null;
    // What is stuck now began to be so now: something went on.
    setStuck(false);
    post(frame, signaled);
  }

  private void post(OutFrame frame, boolean signaled) {
    if (!frame.isGathered()) {
      addControl(frame);
    }
    frame.seal(inbound.announceFrames(), inbound.announceMessages(), immediates.announce());
    frames.use();
    SendWorkRequest request = frame.describe(bench.send());
    if (signaled) {
      request.signaled();
      unsignaled = 0;
    }
    try {
      sends.post(request, frame);
    } catch (VerbsException e) {
      frame.failed(new HcaException("send", connection.peer(), null, "the HCA refused it", e));
      throw e;
    }
  }

  private void addControl(OutFrame frame) {
    if (inbound.isDonePending()) {
      frame.done(inbound.takeDone());
    }
    if (closeWanted && !closeSent && nothingLeft()) {
      closeSent = true;
      frame.close();
    }
  }

  private boolean nothingLeft() {
    return open == null && shares.isNoneWaiting() && waitingNotices.isEmpty();
  }

  private boolean controlDue() {
    if (inbound.framesReached()) {
      return frames.left() > 0;
    }
    return frames.left() > RESERVED_FRAMES
        && (inbound.messagesDue()
            || immediates.due()
            || inbound.isDonePending()
            || (closeWanted && !closeSent && nothingLeft()));
  }

  /** Sends what this turn has brought, and what the peer must know. */
  void endTurn() {
    placeWaiting();
    shares.endTurn();
    placeNotices();
    OutFrame frame = open;
    if (frame != null) {
      if (frame.isEmpty() && unsignaled == 0) {
        open = null;
        opened--;
        flying[frame.number & flying.length - 1] = null;
        bench.giveBack(frame);
      } else if (mayPostData()) {
        postOpen(frame, true);
      }
    }
    boolean told = !controlDue() || (sends.free() > 0 && postControl());
    setStuck(!told || open != null || isReadyWaiting());
  }

  /** Whether messages or notices wait for something else than the peer's subscriber. */
  private boolean isReadyWaiting() {
    return !waitingNotices.isEmpty() || (shares.isReadyWaiting() && !isExposedEnough());
  }

  private boolean postControl() {
    OutFrame frame;
    try {
      frame = bench.takeFrame();
    } catch (MemoryLimitException e) {
      // The next tick tries again.
      return false;
    }
    frame.open(this, false);
    post(frame, true);
    return true;
  }

  private void setStuck(boolean now) {
    if (now != stuck) {
      stuck = now;
      stuckSince = bench.loop().tick();
      bench.loop().pending(now ? 1 : -1);
    }
  }

  /** The coarse clock went on: tries again what found no frame credit, no slot or no memory. */
  void tick() {
    if (stuck) {
      connection.endTurnLater();
    }
  }

  /** Whether that has waited for more than so many ticks. */
  boolean isOverdue(int ticks) {
    return stuck && bench.loop().tick() - stuckSince > ticks;
  }

  void arrived(OutFrame frame) {
    frame.releasePayload();
    FrameWaiter waiter = frame.takeWaiters();
    if (frame.data) {
      arrived = frame.number + 1;
      flying[frame.number & flying.length - 1] = null;
    }
    closeArrived |= frame.closes;
    bench.giveBack(frame);
    while (waiter != null) {
      FrameWaiter next = waiter.nextWaiter();
      waiter.nextWaiter(null);
      waiter.frameArrived();
      waiter = next;
    }
    connection.endTurnLater();
  }

  void lost(OutFrame frame, RdmaException error) {
    frame.releasePayload();
    FrameWaiter waiter = frame.takeWaiters();
    if (frame.data) {
      flying[frame.number & flying.length - 1] = null;
    }
    bench.giveBack(frame);
    while (waiter != null) {
      FrameWaiter next = waiter.nextWaiter();
      waiter.nextWaiter(null);
      waiter.frameLost(error);
      waiter = next;
    }
  }

  /** Whether the frame of this number is at the peer; if not, {@code waiter} is told when it is. */
  boolean hasArrived(int number, FrameWaiter waiter) {
    if (arrived - number > 0) {
      return true;
    }
    OutFrame frame = flying[number & flying.length - 1];
    if (frame != null) {
      // Else it was lost, and the connection is about to fail all its sends.
      frame.tell(waiter);
    }
    return false;
  }

  // ---- end

  /** Posts nothing any more. */
  void halt() {
    halted = true;
    shares.halt();
  }

  /** Has a CLOSE sent once nothing else is left to send; idempotent. */
  void close() {
    if (!closeWanted) {
      closeWanted = true;
      connection.endTurnLater();
    }
  }

  boolean isCloseWanted() {
    return closeWanted;
  }

  boolean isCloseSent() {
    return closeSent;
  }

  boolean isCloseArrived() {
    return closeArrived;
  }

  /** Whether all that was given to send is with the peer. */
  boolean isIdle() {
    return shares.count() == 0 && nothingLeft() && exposed.isEmpty();
  }

  /** Frees everything, once the queue pair is gone. */
  void free(RdmaException error) {
    setStuck(false);
    OutFrame frame = open;
    if (frame != null) {
      open = null;
      connection.guarded(() -> lost(frame, error));
    }
    for (Exposed each : exposed) {
      connection.guarded(each::close);
    }
    exposed.clear();
    shares.forgetWaiting();
  }

  /** Fails what is still pending. */
  void fail(RdmaException error) {
    for (WriteOperation write : waitingNotices) {
      connection.guarded(() -> write.frameLost(error));
    }
    waitingNotices.clear();
    shares.fail(error);
  }
}
