/** The findings of checks. */

/**
 * A finding. A fault prevents the service from working or makes it unsafe; a warning may not
 * matter.
 */
export interface Finding {
  readonly level: 'ok' | 'warning' | 'fault';
  readonly check: string;
  readonly message: string;
  /** How to mend it. */
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
