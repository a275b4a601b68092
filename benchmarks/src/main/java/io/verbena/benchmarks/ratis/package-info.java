// SPDX-License-Identifier: Apache-2.0
/** Apache Ratis: three servers and a client in one JVM, over Verbena and over its own RPC types. */
@NullMarked
package io.verbena.benchmarks.ratis;

import org.jspecify.annotations.NullMarked;
