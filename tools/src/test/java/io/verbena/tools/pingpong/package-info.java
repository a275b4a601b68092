// SPDX-License-Identifier: Apache-2.0
/** Tests of messages that go wrong. */
@NullMarked
package io.verbena.tools.pingpong;

import org.jspecify.annotations.NullMarked;
