/**
 * What connections tell of themselves, for who counts it. It knows no library for metrics; {@code
 * VerbenaMeters} of the transport core hands it on to Micrometer.
 *
 * <pre>
 *  RdmaOptions.meters ---> Meters ----- a device in use -----> HcaMeter ----- a connection -----> ConnectionMeter
 *                            |            errors, polls                      posted, completed, sent, received
 *                            +--- what waits above a transport ---> Backlog
 * </pre>
 *
 * <p><b>Two ways.</b> What happens is told: a work request posted and completed, a message sent and
 * received, an error. What is the case is asked for: {@link io.verbena.meters.ConnectionState} and
 * {@link io.verbena.meters.MeteredHca} are read when somebody looks, on any thread, from plain
 * fields of the loops; such a reading may be a moment old.
 *
 * <p><b>Off</b> is a constant: {@link io.verbena.meters.HcaMeter#OFF} and {@link
 * io.verbena.meters.ConnectionMeter#OFF} are objects of classes whose methods are empty. As long as
 * no program has loaded a subclass, the JIT knows that there is no other implementation, and calls
 * compile to nothing. No clock is read, nothing is allocated or stored, no field is volatile; the
 * times of posts are kept by the meter that wants them and not by the send queue.
 *
 * <p><b>On</b>, a meter is told of each event on the loop's thread, and allocates nothing there
 * either: it gets its tables when the connection is made.
 *
 * <p><b>What an adapter does.</b> For each device that it opens, {@link
 * io.verbena.meters.Meters#hca}, closed before the device; for each connection, {@link
 * io.verbena.meters.HcaMeter#connection}, closed when its queue pair is gone. Nothing is kept of a
 * closed connection but its part of the totals.
 *
 * <p><b>Retransmissions and RNR</b> happen in the HCA and are told by it: {@link
 * io.verbena.verbs.Device#counters}. What a device does not count is not metered.
 */
@NullMarked
package io.verbena.meters;

import org.jspecify.annotations.NullMarked;
