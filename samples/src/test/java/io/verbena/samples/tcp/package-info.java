// SPDX-License-Identifier: Apache-2.0
/** Tests of messages over TCP. */
@NullMarked
package io.verbena.samples.tcp;

import org.jspecify.annotations.NullMarked;
