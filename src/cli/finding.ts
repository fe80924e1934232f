/** What a check found. */

/**
 * One thing that was looked at. A fault stops the service, or makes it unsafe; a warning is worth a
 * thought.
 */
export interface Finding {
  readonly level: 'ok' | 'warning' | 'fault';
  readonly check: string;
  readonly message: string;
  /** What to do about it. */
  readonly advice?: string;
}

export const ok = (check: string, message: string): Finding => ({ level: 'ok', check, message });
export const warning = (check: string, message: string, advice?: string): Finding => ({
  level: 'warning',
  check,
  message,
  ...(advice !== undefined && { advice }),
});
export const fault = (check: string, message: string, advice?: string): Finding => ({
  ...warning(check, message, advice),
  level: 'fault',
});
