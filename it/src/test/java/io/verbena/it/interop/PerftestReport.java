package io.verbena.it.interop;

/**
 * What an end of perftest measured, in the order in which it is told.
 *
 * @param size bytes of a message
 * @param count how many there were
 * @param peak the best bandwidth between two of them, MiB/s
 * @param average MiB/s
 * @param messageRate millions a second
 */
record PerftestReport(long size, long count, double peak, double average, double messageRate) {}
