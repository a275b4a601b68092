// SPDX-License-Identifier: Apache-2.0
/**
 * Replicated registers on Apache Ratis over RDMA, and whether they stay what they promise while
 * faults befall their servers.
 *
 * <pre>
 *  RegisterServer      a server, a program         RegisterStateMachine   what it replicates
 *  RegisterClient      calls them all the time, a program, and writes what it saw
 *    Operation         a call as the client saw it; Request: what it asked for
 *  FaultRun            has faults befall servers, and waits for what has to come after each
 *  Linearizability     whether there is an order of all calls in which the registers do what the client saw
 * </pre>
 */
@NullMarked
package io.verbena.it.ratis;

import org.jspecify.annotations.NullMarked;
