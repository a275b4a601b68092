// SPDX-License-Identifier: Apache-2.0
/**
 * Connection management between HCAs on a wire. The messages are those of InfiniBand's
 * communication manager as {@code rdma_cm} uses them, and travel as datagrams between the queue
 * pairs 1 of two ports (IBTA volume 1, communication management; annex on the IP addressing of CM
 * private data).
 *
 * <pre>{@code
 * active                         passive                     either, later
 * REQ ------------------------->                             DREQ ----------->
 *     <------------------------- MRA (it takes a while)           <----------- DREP
 *     <------------------------- REP, or REJ
 * RTU ------------------------->
 *
 * SIDR_REQ -------------------->                             (for datagrams: which queue pair?)
 *     <------------------------- SIDR_REP
 * }</pre>
 *
 * {@link io.verbena.emulated.cm.protocol.CmMessage} defines the messages, {@link
 * io.verbena.emulated.cm.protocol.Mad} their bytes, {@link io.verbena.emulated.cm.protocol.CmAgent}
 * how a port handles them, {@link io.verbena.emulated.cm.protocol.Communication} the states of one
 * connection, and {@link io.verbena.emulated.cm.protocol.ServiceAgent} how a port resolves datagram
 * services. An agent uses no thread, socket or clock: the driver of the port's engines also drives
 * the agent.
 *
 * <p>Internal: not exported.
 */
@NullMarked
package io.verbena.emulated.cm.protocol;

import org.jspecify.annotations.NullMarked;
