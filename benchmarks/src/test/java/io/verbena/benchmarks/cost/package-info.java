// SPDX-License-Identifier: Apache-2.0
@NullMarked
package io.verbena.benchmarks.cost;

import org.jspecify.annotations.NullMarked;
