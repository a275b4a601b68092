// SPDX-License-Identifier: Apache-2.0
/** RSocket: the same requests over each transport. */
@NullMarked
package io.verbena.benchmarks.rsocket;

import org.jspecify.annotations.NullMarked;
