/** The meaning of SQLite's error codes. */

/** SQLITE_BUSY and SQLITE_LOCKED, extended codes included. */
export function isBusy(error: unknown): boolean {
  const code = (error as { errcode?: number }).errcode;
  return code !== undefined && ((code & 255) === 5 || (code & 255) === 6);
}
