// SPDX-License-Identifier: Apache-2.0
/** Tests of failing pings. */
@NullMarked
package io.verbena.tools.ping;

import org.jspecify.annotations.NullMarked;
