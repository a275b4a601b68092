// SPDX-License-Identifier: Apache-2.0
/**
 * Completion loops: threads that poll completion queues, run tasks of other threads, and sleep when
 * there is no work. Does not depend on Reactor.
 */
@NullMarked
package io.verbena.core.loop;

import org.jspecify.annotations.NullMarked;
