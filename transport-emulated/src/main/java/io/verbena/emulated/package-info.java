// SPDX-License-Identifier: Apache-2.0
/**
 * The emulated HCA: verbs without hardware, root or native code. What users name is here: the
 * providers of {@code emulated://} and {@code roce://}, {@link io.verbena.emulated.SimulatedFabric}
 * for programs in virtual time, {@link io.verbena.emulated.DeviceFault} for tests that break a
 * device. It puts fabrics and connection managers together; the packages below know nothing of it.
 *
 * <pre>
 *  address      addresses and their options
 *  hca          what a program makes and posts to: device, domain, keys, queues
 *  direct       queue pairs that move bytes memory to memory, in one JVM
 *  packet       queue pairs that talk in packets, and their fabrics
 *    engine       their state machines
 *    roce         layouts of packets
 *    wire         what carries packets: UDP sockets, or a simulation
 *  cm           connection managers
 *    cm.local     by name, within a JVM
 *    cm.roce      by RoCE's protocol, on UDP
 *    cm.protocol  that protocol: messages and states
 *  sanitizer    decorators over the verbs that tell a program's mistakes
 * </pre>
 */
@NullMarked
package io.verbena.emulated;

import org.jspecify.annotations.NullMarked;
