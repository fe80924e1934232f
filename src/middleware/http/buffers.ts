/** Memory of large bodies, which engines would give back late. */

/**
 * Memory that goes back to the system as soon as it is free. Engines map resizable buffers page by
 * page; others come from the allocator, which keeps most of what many bodies leave behind.
 */
export function pages(bytes: number): ArrayBuffer {
  const Resizable = ArrayBuffer as new (
    bytes: number,
    options: { readonly maxByteLength: number },
  ) => ArrayBuffer;
  return new Resizable(bytes, { maxByteLength: bytes });
}

/**
 * Gives memory back at once; the buffer has no bytes then. A thread with nothing else to do does
 * not look for garbage, and one with much to do stops for it (docs/decisions/0018).
 */
export function free(buffer: ArrayBuffer): void {
  (buffer as { transfer?: (bytes: number) => ArrayBuffer }).transfer?.(0);
}
