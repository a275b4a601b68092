// SPDX-License-Identifier: Apache-2.0
/**
 * The packet engine: RC, UC and UD as RoCEv2 packets, one engine per queue pair. An engine is a set
 * of state machines and uses no thread, socket or clock: packets come and go through calls, time is
 * a {@link io.verbena.emulated.engine.Timeline}, and the HCA is a {@link
 * io.verbena.emulated.engine.EngineHost}.
 *
 * <p>Not thread-safe: one caller at a time, alarms included. Everything happens within a call:
 *
 * <pre>
 *  modify(state, attributes)   the queue pair's state, after the host has checked the transition
 *  posted()                    a send or a receive was posted
 *  receive(frame)              a packet for this queue pair; the caller owns it again on return
 *  (an alarm's action)         set through the Timeline; calls EngineHost.ready if there is work
 *  run(packets)                sends up to that many; true if more could be sent at once
 * </pre>
 *
 * <pre>{@code
 *  SendRing          EngineHost: memory, completions, receives          Timeline
 *     |                 ^             ^            ^                 |
 *     v                 |             |            |                 v
 * Requester ----- SendWindow ---- Completer     Responder       RetryClock
 *     |           positions,          ^         ResourceTable   timeout, RNR
 *     |           PSNs                |         ReplyQueue      wait, counters
 *     v                               |          ^      |
 * PacketSink (requests)    answers in -+          |      +-> PacketSink (answers)
 *                                    requests in +
 * }</pre>
 *
 * Each machine's Javadoc describes its states and rules. UC and UD have a responder each that sends
 * no answers, and complete a request when its last packet leaves.
 *
 * <p>Only {@code run} sends: after each of the other calls, the caller soon calls {@code run}, and
 * repeats it while it returns true. Acknowledgements that become due between two runs are sent as
 * one.
 *
 * <p>The caller passes only packets whose form, invariant CRC, partition key and queue pair number
 * are right. The engine silently drops packets of another transport, and packets that come in a
 * state that does not receive. The port checks the sender's address.
 *
 * <p>Internal: not exported.
 */
@NullMarked
package io.verbena.emulated.engine;

import org.jspecify.annotations.NullMarked;
