// SPDX-License-Identifier: Apache-2.0
/**
 * Receives messages and immediates: posts receives, READs long messages, and delivers them to
 * subscribers as these request them.
 */
@NullMarked
package io.verbena.reactor.receive;

import org.jspecify.annotations.NullMarked;
