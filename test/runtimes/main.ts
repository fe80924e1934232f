/** What Deno, Bun and Node run: the check, its report as one line of JSON. */
import { check } from './check.ts';

console.log(JSON.stringify(await check()));
