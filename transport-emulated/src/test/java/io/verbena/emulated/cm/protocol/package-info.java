@NullMarked
package io.verbena.emulated.cm.protocol;

import org.jspecify.annotations.NullMarked;
