// SPDX-License-Identifier: Apache-2.0
/** What guards a connection from foreign code, and what is said of it. */
@NullMarked
package io.verbena.reactor.guard;

import org.jspecify.annotations.NullMarked;
