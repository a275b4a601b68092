// SPDX-License-Identifier: Apache-2.0
/**
 * Sends messages: requests them from their publishers as credits allow, and puts them into frames.
 */
@NullMarked
package io.verbena.reactor.send;

import org.jspecify.annotations.NullMarked;
