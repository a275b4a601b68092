@NullMarked
package io.verbena.emulated.sanitized;

import org.jspecify.annotations.NullMarked;
