@NullMarked
package io.verbena.stress;

import org.jspecify.annotations.NullMarked;
