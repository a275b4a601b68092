// SPDX-License-Identifier: Apache-2.0
/**
 * The events of a program's connections for Flight Recorder. They cost a check of a field while
 * nobody records them.
 */
@NullMarked
package io.verbena.core.event;

import org.jspecify.annotations.NullMarked;
