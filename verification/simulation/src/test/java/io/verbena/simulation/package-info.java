@NullMarked
package io.verbena.simulation;

import org.jspecify.annotations.NullMarked;
