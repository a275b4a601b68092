// SPDX-License-Identifier: Apache-2.0
/**
 * The HCA of iWARP: queue pairs whose bytes go through TCP sockets. Each queue pair has a TCP
 * connection of its own, which starts with MPA frames that carry {@code rdma_cm}'s private data,
 * and ends with the RDMA connection. Internal: not exported.
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
