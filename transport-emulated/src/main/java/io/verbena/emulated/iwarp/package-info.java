// SPDX-License-Identifier: Apache-2.0
/**
 * The HCA that speaks iWARP: queue pairs whose bytes go through sockets of TCP. One connection is
 * one queue pair; it starts with the frames of MPA, in which {@code rdma_cm}'s private data
 * travels, and ends as the connection does. Internal: not exported.
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
