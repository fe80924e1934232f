/**
 * A worker to be killed: claims one task, extends its lease thrice in its time, prints the id.
 *
 *   node bench/support/lostWorker.ts <url> <schema> <lease in ms>
 */
import { postgresStore } from '../../src/middleware/stores/postgres/index.ts';

const [url = '', schema = '', lease = '1000'] = process.argv.slice(2);
const leaseMs = Number(lease);
const store = postgresStore({ url, schema, connections: 3 });
await store.open();
const { task } = await store.tasks.claim({ leaseMs, threads: 1 });
if (task === null) throw new Error('there is nothing to claim');
setInterval(() => void store.tasks.extendAll([task], leaseMs), leaseMs / 3);
console.log(task.id);
