// SPDX-License-Identifier: Apache-2.0
/** Claims about completion loops. */
@NullMarked
package io.verbena.reactor.loop;

import org.jspecify.annotations.NullMarked;
