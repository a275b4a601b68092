// SPDX-License-Identifier: Apache-2.0
/**
 * Queue pairs whose requests an engine does later: posting copies them and rings a doorbell, and
 * the driver of the fabric calls the engine of each that rang. One thread at a time does so, which
 * may be one that polls. Other packages say which engine it is, and what carries its bytes.
 * Internal: not exported.
 */
@NullMarked
package io.verbena.emulated.driven;

import org.jspecify.annotations.NullMarked;
