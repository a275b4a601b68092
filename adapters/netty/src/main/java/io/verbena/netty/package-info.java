// SPDX-License-Identifier: Apache-2.0
/**
 * Netty channels over RDMA: {@link io.verbena.netty.RdmaSocketChannel} and {@link
 * io.verbena.netty.RdmaServerSocketChannel} on event loops with a {@link
 * io.verbena.netty.RdmaIoHandler}, over any verbs provider.
 *
 * <pre>
 *  pipeline        RdmaSocketChannel            RdmaServerSocketChannel
 *                    |  bytes                       |  connect requests
 *  Stream          StreamSendQueue: pieces, credits StreamReceiveQueue: receives, window
 *                    |  SEND_WITH_IMM               |  RECV
 *  RdmaIoHandler   polls the completion queues of its streams on the event loop's thread
 *  SharedHca       device, protection domain, registered memory, connection events
 * </pre>
 *
 * <p>The bytes of a channel travel as pieces of at most the peer's receive size. Each piece is a
 * SEND with immediate data, which returns credits and ends the stream. Devices whose SENDs have no
 * immediate data, such as those of iWARP, send these 32 bits after the bytes.
 *
 * <p>The channels do not use a ring buffer that is written by RDMA WRITE: a WRITE makes no
 * completion at the peer unless it takes a receive as well, so it saves nothing, and the receiver
 * would have to copy out of the ring, whereas the buffer of a receive is handed to the pipeline as
 * it is.
 */
@NullMarked
package io.verbena.netty;

import org.jspecify.annotations.NullMarked;
