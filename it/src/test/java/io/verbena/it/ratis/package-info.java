// SPDX-License-Identifier: Apache-2.0
/**
 * Tests that registers, which Apache Ratis replicates over RDMA, stay linearizable during faults of
 * their servers.
 *
 * <pre>
 *  RegisterServer      a program, the server       RegisterStateMachine   its registers
 *  RegisterClient      a program, calls the servers all the time and records its calls
 *    Operation         a call as the client saw it, with its Request
 *  FaultRun            applies faults to servers, and waits after each for a leader and answers
 *  Linearizability     searches for an order of all calls that explains the answers
 * </pre>
 */
@NullMarked
package io.verbena.it.ratis;

import org.jspecify.annotations.NullMarked;
