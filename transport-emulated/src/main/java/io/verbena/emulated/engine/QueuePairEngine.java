// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import io.verbena.emulated.roce.PacketOpcode;
import io.verbena.emulated.roce.RocePacket;
import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairState;

/**
 * The packet engine of one queue pair. The table shows the work of each state machine in each
 * state.
 *
 * <pre>
 *                RESET  INIT  RTR  RTS  SQD            SQE        ERR
 *  Requester      -      -     -   +    begun requests flushes    flushes
 *  Completer (RC) -      -     -   +    +              -          -
 *  responder      -      -     +   +    +              +          flushes, sends answers
 * </pre>
 *
 * Not thread-safe: one caller at a time; see the package.
 *
 * <p>A call throws only because of a programming error of the engine or its caller. By then the
 * queue pair is in ERR, its work is flushed, and its pending answers are dropped, so that the error
 * does not recur.
 */
public final class QueuePairEngine {
  private final EngineContext context;
  private final SendWindow window;
  private final RetryClock clock;
  private final CongestionWindow congestion;
  private final Requester requester;
  private final Completer completer;
  private final ReceiveProgress receives;
  private final Responder responder;
  private final UnreliableResponder unreliable;
  private final DatagramResponder datagrams;
  private final CongestionNotifier notifier;
  private boolean established;

  /**
   * Creates an engine in RESET. {@code host} provides the queue pair's memory, receives and
   * completions, {@code sends} its requests.
   */
  public QueuePairEngine(
      EngineOptions options, EngineHost host, SendRing sends, Timeline timeline, PacketSink sink) {
    context = new EngineContext(options, host, sink);
    window = new SendWindow(sends, host);
    congestion = new CongestionWindow(options.flow(), timeline);
    clock = new RetryClock(context, timeline, this::alarm);
    LossProbe probe = new LossProbe();
    requester = new Requester(context, window, clock, congestion, probe, this::requestFailed);
    completer = new Completer(context, window, clock, congestion, probe, requester);
    receives = new ReceiveProgress(host, options.maxReceiveScatterGather());
    InboundWrite write = new InboundWrite(host);
    boolean delays = context.reliable() && options.flow().adaptive();
    AckDelay delay = delays ? new AckDelay(context, window, timeline, this::answer) : null;
    responder = new Responder(context, receives, write, delay, this::requestRefused);
    unreliable = new UnreliableResponder(context, receives, write, this::requestRefused);
    datagrams = new DatagramResponder(context, receives, this::requestRefused);
    notifier = new CongestionNotifier(context, timeline);
  }

  public QueuePairState state() {
    return context.state;
  }

  /** Returns whether the state is SQD and requests that were begun before are not completed yet. */
  public boolean isDraining() {
    return context.state == QueuePairState.SQD && !window.isIdle();
  }

  /**
   * Moves to a state, or changes attributes in the current one. ERR flushes; RESET drops everything
   * without completions. Does not call {@link EngineHost#moved}.
   *
   * @param to the new state; the caller has checked the transition
   * @param attributes all attributes of the queue pair, old and new
   */
  public void modify(QueuePairState to, QueuePairAttributes attributes) {
    QueuePairState from = context.state;
    // Grants depend on the state and on the access rights.
    context.revokeReads();
    context.configure(attributes);
    context.state = to;
    switch (to) {
      case RESET -> reset();
      case RTR -> {
        if (from != QueuePairState.RTR) {
          established = false;
          responder.startAt(attributes.receivePsn());
          unreliable.startAt(attributes.receivePsn());
        }
      }
      case RTS -> {
        if (from == QueuePairState.RTR) {
          window.startAt(attributes.sendPsn());
          clock.reset();
          congestion.reset();
        }
        requester.stateChanged();
      }
      case SQD -> {
        if (from != QueuePairState.SQD) {
          requester.stateChanged();
        } else {
          clock.reload();
          responder.resize();
        }
      }
      case ERR -> {
        if (from == QueuePairState.ERR) {
          posted();
        } else {
          responder.stop();
          flush();
        }
      }
      case INIT, SQE -> {}
    }
  }

  private void reset() {
    clock.stop();
    context.withdraw();
    window.clear();
    requester.clear();
    responder.clear();
    notifier.clear();
    receives.drop();
  }

  /** Notes that a send or a receive was posted. Flushes it in ERR, and sends also in SQE. */
  public void posted() {
    if (context.state == QueuePairState.ERR) {
      window.flush();
      receives.flush(context.options.sharedReceives());
    } else if (context.state == QueuePairState.SQE) {
      window.flush();
    }
  }

  /**
   * Handles a parsed packet for this queue pair; drops it if its transport or the state is wrong.
   * The caller owns the packet again on return.
   */
  public void receive(RocePacket packet) {
    try {
      accept(packet);
    } catch (RuntimeException | Error e) {
      breakDown(e);
      throw e;
    }
  }

  private void accept(RocePacket packet) {
    switch (context.state) {
      case RTR, RTS, SQD, SQE -> {
        PacketOpcode opcode = packet.opcode();
        if (packet.forwardCongestion()
            && context.isConnected()
            && opcode != PacketOpcode.CONGESTION_NOTIFICATION) {
          notifier.marked();
        }
        if (opcode.isRequest()) {
          receiveRequest(packet, opcode);
        } else if (opcode == PacketOpcode.CONGESTION_NOTIFICATION) {
          congestion.notified();
        } else if (opcode.transport() == PacketOpcode.Transport.RC && context.reliable()) {
          completer.receive(packet);
        }
      }
      case RESET, INIT, ERR -> {}
    }
  }

  private void receiveRequest(RocePacket packet, PacketOpcode opcode) {
    switch (context.options.type()) {
      case RC -> {
        if (opcode.transport() == PacketOpcode.Transport.RC) {
          establish();
          responder.receive(packet);
        }
      }
      case UC -> {
        if (opcode.transport() == PacketOpcode.Transport.UC) {
          establish();
          unreliable.receive(packet);
        }
      }
      case UD -> {
        if (opcode.transport() == PacketOpcode.Transport.UD) {
          datagrams.receive(packet);
        }
      }
    }
  }

  private void establish() {
    if (context.state == QueuePairState.RTR && !established) {
      established = true;
      context.host.raise(AsyncEvent.Type.COMM_EST);
    }
  }

  /**
   * Returns whether {@link #run} may have something to do now; false if all remaining work waits
   * for a packet, a post, an alarm or a change of state.
   */
  public boolean isDue() {
    // Other states are rare; some of them have work of their own.
    return context.state != QueuePairState.RTS
        || requester.isDue()
        || responder.isDue()
        || notifier.isDue();
  }

  /**
   * Sends packets, requests and answers in turn, and executes local operations.
   *
   * @param packets the most packets to send
   * @return true if there may be more to send, at once or when the sink has room; false if all
   *     remaining work waits for a packet, a post, an alarm or a change of state
   */
  public boolean run(int packets) {
    try {
      return step(packets);
    } catch (RuntimeException | Error e) {
      breakDown(e);
      throw e;
    }
  }

  private boolean step(int packets) {
    int left = packets;
    while (left > 0 && !context.isFull()) {
      // Requests go first: a request may carry an answer that the peer's program waits for.
      boolean requested = requester.step();
      // Each step may fill the sink, and a full sink drops packets.
      boolean replied = !context.isFull() && responder.reply();
      boolean notified = !context.isFull() && notifier.step();
      if (!replied && !requested && !notified) {
        requester.rest();
        return false;
      }
      left -= (replied ? 1 : 0) + (requested ? 1 : 0) + (notified ? 1 : 0);
    }
    return true;
  }

  /**
   * Fails the requests that wait for an answer, as if their retries were exhausted, since the peer
   * is gone.
   */
  public void peerGone() {
    if (context.reliable() && window.awaitsAnswer()) {
      try {
        requester.fail(CompletionStatus.RETRY_EXC_ERR);
      } catch (RuntimeException | Error e) {
        breakDown(e);
        throw e;
      }
    }
  }

  /** Releases the held acknowledgements; the next {@linkplain #run run} sends them. */
  public void answer() {
    responder.release();
    context.host.ready();
  }

  private void alarm() {
    try {
      goOn();
    } catch (RuntimeException | Error e) {
      breakDown(e);
      throw e;
    }
  }

  private void goOn() {
    boolean receiverWait = clock.awaitsReceiver();
    if (!clock.expired()) {
      if (clock.isToProbe() && !context.isFull()) {
        completer.probe();
        context.host.ready();
      }
      return;
    }
    if (receiverWait) {
      clock.answered();
    } else {
      completer.timeout();
    }
    context.host.ready();
  }

  private void requestFailed() {
    if (context.reliable()) {
      responder.stop();
      enterError();
    } else {
      context.state = QueuePairState.SQE;
      context.host.moved(QueuePairState.SQE);
      window.flush();
      requester.clear();
    }
  }

  private void requestRefused() {
    enterError();
  }

  /** Moves to ERR after a programming error, whatever the states of the machines. */
  private void breakDown(Throwable mistake) {
    if (context.state == QueuePairState.RESET) {
      return;
    }
    try {
      responder.clear();
      if (context.state == QueuePairState.ERR) {
        flush();
      } else {
        context.host.raise(AsyncEvent.Type.QP_FATAL);
        enterError();
      }
    } catch (RuntimeException | Error again) {
      mistake.addSuppressed(again);
    }
  }

  private void enterError() {
    if (context.state == QueuePairState.ERR) {
      return;
    }
    context.state = QueuePairState.ERR;
    context.host.moved(QueuePairState.ERR);
    flush();
  }

  private void flush() {
    clock.stop();
    context.withdraw();
    notifier.clear();
    window.flush();
    requester.clear();
    boolean shared = context.options.sharedReceives();
    receives.flush(shared);
    if (shared) {
      context.host.raise(AsyncEvent.Type.QP_LAST_WQE_REACHED);
    }
  }
}
