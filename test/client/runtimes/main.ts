/** What Deno, Bun and Node run: the check, its report as one line of JSON. */
import { checkClient } from './check.ts';

console.log(JSON.stringify(await checkClient(JSON.parse(globalThis.process.argv[2]!))));
