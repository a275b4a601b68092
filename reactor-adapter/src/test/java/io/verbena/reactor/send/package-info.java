// SPDX-License-Identifier: Apache-2.0
/** Tests of frames in flight. */
@NullMarked
package io.verbena.reactor.send;

import org.jspecify.annotations.NullMarked;
