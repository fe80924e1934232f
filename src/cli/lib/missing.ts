/** Recognises missing optional packages by error code: each package manager words its own text. */

const NOT_FOUND: readonly unknown[] = ['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND'];

/** @returns whether an import failed since this package cannot be found from here */
export function isMissing(error: unknown, name: string): boolean {
  if (!NOT_FOUND.includes((error as NodeJS.ErrnoException).code)) return false;
  try {
    import.meta.resolve(name);
    return false;
  } catch {
    return true;
  }
}
