/** What Node, Deno and Bun run: the report as one line of JSON. */
import { checkThreads } from './threadsCheck.ts';

console.log(JSON.stringify(await checkThreads()));
