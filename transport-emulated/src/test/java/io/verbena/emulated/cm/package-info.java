@NullMarked
package io.verbena.emulated.cm;

import org.jspecify.annotations.NullMarked;
