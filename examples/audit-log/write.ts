/** Three programs write 250 events to a log with batches of 100. */
import { writerNamed } from './keys.ts';
import { AuditLog, type Writer } from './log.ts';

const names = ['billing', 'login', 'backup'];
const writers = new Map<string, Writer>();
for (const name of names) writers.set(name, await writerNamed('keys', name));

const log = await AuditLog.open('log', writers, 100);
for (let i = 0; i < 250; i++) {
  await log.append(names[i % names.length]!, { what: 'something happened', detail: i });
}
for (const { signer } of writers.values()) signer.destroy();
console.log('250 entries written');
