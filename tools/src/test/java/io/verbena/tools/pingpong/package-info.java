// SPDX-License-Identifier: Apache-2.0
/** Tests of failing messages. */
@NullMarked
package io.verbena.tools.pingpong;

import org.jspecify.annotations.NullMarked;
