@NullMarked
package io.verbena.benchmarks.cost;

import org.jspecify.annotations.NullMarked;
