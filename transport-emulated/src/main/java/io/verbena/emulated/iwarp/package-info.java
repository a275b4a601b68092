// SPDX-License-Identifier: Apache-2.0
/**
 * The HCA of iWARP: queue pairs whose bytes go through TCP sockets. One TCP connection is one queue
 * pair; it starts with MPA frames, which carry {@code rdma_cm}'s private data, and ends with the
 * RDMA connection. Internal: not exported.
 *
 * <pre>
 *  cm.iwarp --- asks, answers ---> TcpStream --- from the first FPDU on ---> IwarpQueuePair
 *                                     |                                        StreamEngine
 *                                  TcpSockets, of an IwarpFabric: turns, driver
 * </pre>
 */
@NullMarked
package io.verbena.emulated.iwarp;

import org.jspecify.annotations.NullMarked;
