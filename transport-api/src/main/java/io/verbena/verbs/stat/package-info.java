// SPDX-License-Identifier: Apache-2.0
/**
 * The management interface that shows the open queue pairs of a JVM to programs outside: {@code
 * verbena stat PID}, JConsole and the like. It depends on no other module of Verbena, and no
 * running program needs it.
 */
@NullMarked
package io.verbena.verbs.stat;

import org.jspecify.annotations.NullMarked;
