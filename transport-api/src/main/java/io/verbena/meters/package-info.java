// SPDX-License-Identifier: Apache-2.0
/**
 * Measurements of connections. This package depends on no metrics library; {@code VerbenaMeters} of
 * the transport core passes them to Micrometer.
 *
 * <pre>{@code
 * RdmaOptions.meters ---> Meters ----- a device in use -----> HcaMeter ----- a connection -----> ConnectionMeter
 *                           |            errors, polls                      posted, completed, sent, received
 *                           +--- what waits above a transport ---> Backlog
 * }</pre>
 *
 * <p><b>Events and states.</b> A meter is called for events: a work request posted and completed, a
 * message sent and received, an error. It reads states itself: {@link
 * io.verbena.meters.ConnectionState} and {@link io.verbena.meters.MeteredHca}, when somebody looks,
 * on any thread, from plain fields of the loops; such a reading may be a moment old.
 *
 * <p><b>Off</b> is a constant: {@link io.verbena.meters.HcaMeter#OFF} and {@link
 * io.verbena.meters.ConnectionMeter#OFF} are objects of classes whose methods are empty. As long as
 * no program has loaded a subclass, the JIT knows that there is no other implementation, and calls
 * compile to nothing. No clock is read, nothing is allocated or stored, no field is volatile; the
 * times of posts are kept by the meter that wants them and not by the send queue.
 *
 * <p><b>On</b>, the loop's thread calls a meter for each event. The meter allocates nothing there
 * either: it gets its tables when the connection is made.
 *
 * <p><b>What an adapter does.</b> For each device that it opens, {@link
 * io.verbena.meters.Meters#hca}, closed before the device; for each connection, {@link
 * io.verbena.meters.HcaMeter#connection}, closed when its queue pair is gone. Nothing is kept of a
 * closed connection but its part of the totals.
 *
 * <p><b>Retransmissions and RNR</b> happen in the HCA, which counts them: {@link
 * io.verbena.verbs.Device#counters}. What a device does not count is not metered.
 */
@NullMarked
package io.verbena.meters;

import org.jspecify.annotations.NullMarked;
