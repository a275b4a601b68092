@NullMarked
package io.verbena.emulated.engine;

import org.jspecify.annotations.NullMarked;
