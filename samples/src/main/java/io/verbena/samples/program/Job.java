// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.program;

import io.verbena.samples.report.Checks;
import io.verbena.samples.report.Progress;
import java.time.Duration;

/**
 * The job of a client, which reports its progress there.
 *
 * @param transport the name of what carries its messages
 * @param checks what must be true
 * @param step advances by {@link Sample#steps} in all
 * @param limit after which a step of it has failed
 */
public record Job(String transport, Checks checks, Progress.Step step, Duration limit) {}
