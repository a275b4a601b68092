package io.verbena.tools.datagrams;

import java.time.Duration;

/**
 * What both ends go by.
 *
 * @param connections queue pairs of an end
 * @param messages of a queue pair, each way
 * @param size bytes of a message
 * @param limit how long nothing may come
 */
record DatagramOptions(int connections, int messages, int size, Duration limit) {}
