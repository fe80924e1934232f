/** Constants as text: rows of numbers, and tables of the modules. */

/** @returns the values, `perLine` on a line, each line indented by two and ended by a comma */
export function rowsOf(
  values: readonly (number | bigint)[],
  perLine: number,
  text: (value: number | bigint) => string = String,
): string {
  const lines: string[] = [];
  for (let i = 0; i < values.length; i += perLine) {
    lines.push(
      `  ${values
        .slice(i, i + perLine)
        .map(text)
        .join(', ')},`,
    );
  }
  return lines.join('\n');
}

/** @returns the declaration of an exported table of `type`, whose rows `rowsOf` has written */
export const table = (doc: string, name: string, type: string, rows: string): string =>
  `${doc === '' ? '' : `/** ${doc} */\n`}export const ${name}: usize = memory.data<${type}>([
${rows}
], 16);
`;
