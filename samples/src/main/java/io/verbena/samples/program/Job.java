// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.program;

import io.verbena.samples.report.Checks;
import io.verbena.samples.report.Progress;
import java.time.Duration;

/**
 * The job of a client, which reports its progress there.
 *
 * @param transport the name of the transport
 * @param checks collects the checks
 * @param step advances by {@link Sample#steps} in all
 * @param limit the longest time of a step
 */
public record Job(String transport, Checks checks, Progress.Step step, Duration limit) {}
