import { openModule, moduleNames } from './modules.ts';
import { readContracts } from './contracts.ts';
import { Kernel } from './kernel.ts';
import { STATEMENTS } from './statements.ts';
const only = process.argv[3]; const all = readContracts();
for (const name of (process.argv[2] ?? moduleNames().join()).split(',')) { const m = await openModule(name);
 const has = new Set([...m.names.values()].map((n)=>n.split('/').at(-1)));
 for (const c of all) { if (!c.proof || !has.has(c.name) || (only && !new RegExp('^('+only+')$').test(c.name))) continue;
  for (const inst of c.proof.instances) { const t0 = performance.now(); let why = ''; let k; try { k = new Kernel(m, c, inst); STATEMENTS[c.proof.reference](k, c.proof.args); k.finish(); why = k.failures[0] ?? ''; } catch (e) { why = process.env.V ? e.stack : e.message; }
   console.log(name.padEnd(20), c.name.padEnd(18), JSON.stringify(inst), why ? 'NOT PROVED '+(k?.failures.length)+' '+ why : 'proved', k?.checks, k?.machine.terms.nodes.length, ((performance.now()-t0)/1000).toFixed(2)); } } }
