// SPDX-License-Identifier: Apache-2.0
/**
 * Netty channels over RDMA: {@link io.verbena.netty.RdmaSocketChannel} and {@link
 * io.verbena.netty.RdmaServerSocketChannel} on event loops with a {@link
 * io.verbena.netty.RdmaIoHandler}, over any verbs provider.
 *
 * <pre>
 *  pipeline        RdmaSocketChannel            RdmaServerSocketChannel
 *                    |  bytes                       |  connect requests
 *  Stream          SendBuffers: pieces, credits ReceiveBuffers: receives, window
 *                    |  SEND_WITH_IMM               |  RECV
 *  RdmaIoHandler   polls the completion queues of its streams on the event loop's thread
 *  SharedHca       device, protection domain, registered memory, connection events
 * </pre>
 *
 * <p>The bytes of a channel travel as pieces of at most the peer's receive size, each a SEND with
 * immediate data; the immediate returns credits and ends the stream. A device without, as those of
 * iWARP, sends both behind the bytes. SEND and receives, not a ring that is written by RDMA WRITE:
 * a WRITE raises no completion at the peer unless it takes a receive as well, so that it saves
 * nothing, and a ring costs the receiver a copy out of it, where a receive's buffer is handed to
 * the pipeline as it is.
 */
@NullMarked
package io.verbena.netty;

import org.jspecify.annotations.NullMarked;
