// SPDX-License-Identifier: Apache-2.0
/** Tests of messages: sizes, order, credits. */
@NullMarked
package io.verbena.reactor.messages;

import org.jspecify.annotations.NullMarked;
