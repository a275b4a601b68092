// SPDX-License-Identifier: Apache-2.0
/** Claims about credits, as arithmetic. */
@NullMarked
package io.verbena.reactor.credit;

import org.jspecify.annotations.NullMarked;
