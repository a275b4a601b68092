// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.datagrams;

import java.time.Duration;

/**
 * The options of both ends.
 *
 * @param connections queue pairs of an end
 * @param messages of a queue pair, each way
 * @param size bytes of a message
 * @param limit the longest time in which nothing completes
 */
record DatagramOptions(int connections, int messages, int size, Duration limit) {}
