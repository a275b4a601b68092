// SPDX-License-Identifier: Apache-2.0
/**
 * Connection management between HCAs on a wire: the messages of InfiniBand's communication manager,
 * which travel as datagrams between the queue pairs 1 of two ports, as {@code rdma_cm} uses them
 * (IBTA volume 1, communication management; annex on the IP addressing of CM private data).
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
 * {@link io.verbena.emulated.cm.protocol.CmMessage} is what they say, {@link
 * io.verbena.emulated.cm.protocol.Mad} how it stands in bytes, {@link
 * io.verbena.emulated.cm.protocol.CmAgent} what a port does about them, {@link
 * io.verbena.emulated.cm.protocol.Communication} the states of one connection, and {@link
 * io.verbena.emulated.cm.protocol.ServiceAgent} what a port does about datagrams. An agent knows no
 * thread, socket or clock: who drives the engines of the port drives it too.
 *
 * <p>Internal: not exported.
 */
@NullMarked
package io.verbena.emulated.cm.protocol;

import org.jspecify.annotations.NullMarked;
