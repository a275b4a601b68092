@NullMarked
package io.verbena.emulated.roce;

import org.jspecify.annotations.NullMarked;
