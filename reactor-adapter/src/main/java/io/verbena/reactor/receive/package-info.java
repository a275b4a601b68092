// SPDX-License-Identifier: Apache-2.0
/**
 * Receives messages and immediates: posts receives, READs long messages, and delivers what came to
 * the subscribers that ask for it.
 */
@NullMarked
package io.verbena.reactor.receive;

import org.jspecify.annotations.NullMarked;
