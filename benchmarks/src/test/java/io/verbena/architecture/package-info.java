/** What holds for the whole house. It stands here because this module alone sees every other. */
@NullMarked
package io.verbena.architecture;

import org.jspecify.annotations.NullMarked;
