// SPDX-License-Identifier: Apache-2.0
/** Tests of the direct fabric in its synchronous and asynchronous modes. */
@NullMarked
package io.verbena.emulated.direct;

import org.jspecify.annotations.NullMarked;
