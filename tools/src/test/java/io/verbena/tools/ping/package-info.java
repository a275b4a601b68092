// SPDX-License-Identifier: Apache-2.0
/** Tests of pings that go wrong. */
@NullMarked
package io.verbena.tools.ping;

import org.jspecify.annotations.NullMarked;
