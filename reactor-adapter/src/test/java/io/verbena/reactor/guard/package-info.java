// SPDX-License-Identifier: Apache-2.0
/** Tests of the guards of a connection against foreign code, and of their reports. */
@NullMarked
package io.verbena.reactor.guard;

import org.jspecify.annotations.NullMarked;
