/** A small program with checks, for the test of the mutation run. */
export function isShort(values: readonly number[], most: number): boolean {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i]! ** 2;
  if (values.length === 0 || sum > most) return false;
  return true;
}
