// SPDX-License-Identifier: Apache-2.0
/** Tests of the arithmetic of credits. */
@NullMarked
package io.verbena.reactor.credit;

import org.jspecify.annotations.NullMarked;
