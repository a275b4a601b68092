// SPDX-License-Identifier: Apache-2.0
/**
 * What Flight Recorder shows of a program's connections: events that cost a check of a field while
 * nobody records them.
 */
@NullMarked
package io.verbena.core.event;

import org.jspecify.annotations.NullMarked;
