package io.verbena.verbs;

/** A part of a memory region that peers may reach by a key of its own, which dies alone. */
public interface MemoryWindow extends AutoCloseable {

  /** The domain that it belongs to. */
  ProtectionDomain protectionDomain();

  /** Its kind. */
  MemoryWindowType type();

  /** The key by which peers name it now; each bind changes its low 8 bits. */
  int rkey();

  @Override
  void close();
}
