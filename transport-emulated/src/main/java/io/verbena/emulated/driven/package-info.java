// SPDX-License-Identifier: Apache-2.0
/**
 * Queue pairs whose requests an engine executes later: posting copies a request and rings a
 * doorbell, and the driver of the fabric calls the engine of each queue pair that rang. One thread
 * at a time does so, which may be a polling thread. Other packages provide the engine, and the
 * carrier of its bytes. Internal: not exported.
 */
@NullMarked
package io.verbena.emulated.driven;

import org.jspecify.annotations.NullMarked;
