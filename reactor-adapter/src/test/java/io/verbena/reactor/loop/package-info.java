// SPDX-License-Identifier: Apache-2.0
/** Tests of completion loops. */
@NullMarked
package io.verbena.reactor.loop;

import org.jspecify.annotations.NullMarked;
