@NullMarked
package io.verbena.emulated.wire;

import org.jspecify.annotations.NullMarked;
