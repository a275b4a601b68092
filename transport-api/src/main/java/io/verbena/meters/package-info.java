// SPDX-License-Identifier: Apache-2.0
/**
 * Measurements of connections. This package depends on no metrics library; {@code VerbenaMeters} of
 * the transport core passes them to Micrometer.
 *
 * <pre>{@code
 * RdmaOptions.meters ---> Meters ----- a device in use -----> HcaMeter ----- a connection -----> ConnectionMeter
 *                           |            errors, polls                      posted, completed, sent, received
 *                           +--- bytes in front of a transport ---> Backlog
 * }</pre>
 *
 * <p><b>Events and states.</b> Transports call a meter for events: a work request posted and
 * completed, a message sent and received, an error. The meter reads states itself, from {@link
 * io.verbena.meters.ConnectionState} and {@link io.verbena.meters.MeteredHca}, at any time and on
 * any thread. They return plain fields of the loops, so a reading may be a moment old.
 *
 * <p><b>Off</b> is a constant: {@link io.verbena.meters.HcaMeter#OFF} and {@link
 * io.verbena.meters.ConnectionMeter#OFF} are objects of classes whose methods are empty. As long as
 * no subclass is loaded, the JIT knows that there is no other implementation, and compiles calls to
 * nothing. Then no clock is read, nothing is allocated or stored, and no field is volatile. A meter
 * that needs the times of posts keeps them itself; the send queue does not.
 *
 * <p><b>On</b>, the loop's thread calls a meter for each event. A meter should allocate nothing
 * there: it can make its tables when the connection is made.
 *
 * <p><b>Calls of an adapter.</b> An adapter calls {@link io.verbena.meters.Meters#hca} for each
 * device that it opens, and closes that meter before the device. It calls {@link
 * io.verbena.meters.HcaMeter#connection} for each connection, and closes that meter when the queue
 * pair is gone. Of a closed connection, only its part of the totals is kept.
 *
 * <p><b>Retransmissions and RNR</b> happen in the HCA, which counts them: {@link
 * io.verbena.verbs.Device#counters}. Events that a device does not count are not metered.
 */
@NullMarked
package io.verbena.meters;

import org.jspecify.annotations.NullMarked;
