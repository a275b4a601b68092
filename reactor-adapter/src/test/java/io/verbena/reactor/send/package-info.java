// SPDX-License-Identifier: Apache-2.0
/** Claims about frames on their way. */
@NullMarked
package io.verbena.reactor.send;

import org.jspecify.annotations.NullMarked;
