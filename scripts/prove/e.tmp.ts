import { openModule } from './modules.ts'; import { readContracts } from './contracts.ts'; import { Kernel } from './kernel.ts';
const m = await openModule('labrador'); const c = readContracts().find((c)=>c.name==='reconstruct')!;
const k = new Kernel(m, c, {}); k.inputs('residues'); k.call(); const show = (t, d=0) => { console.log(' '.repeat(d)+t.id, t.op, t.width, t.immediate, t.low, t.high, t.definition? 'def'+[...t.definition].map(([m,c])=>m+':'+c):'', t.ring?'ring':''); if (d<14) for (const a of t.args) show(a,d+1); };
show(k.outputs('out')[0]);
