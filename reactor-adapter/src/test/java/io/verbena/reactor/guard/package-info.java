// SPDX-License-Identifier: Apache-2.0
/** Tests of the guards that protect a connection from user code, and of their reports. */
@NullMarked
package io.verbena.reactor.guard;

import org.jspecify.annotations.NullMarked;
