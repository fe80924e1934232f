import { stranger, witnessOf } from './attack.ts';
import { attack, tooLong, wrapped } from './relation.ts';
import { SHORT } from './rows.ts';

attack('norm β² + 1: w has the constant coefficient 1', () => {
  const { item, S } = tooLong(1n);
  const witness = () => witnessOf(S, 1n);
  return { row: SHORT, items: [item], faults: { witness }, off: ['L'], omit: ['L'] };
});

attack(
  'norm β² + q: only the norm of the projection sees it',
  () => {
    const { item, S } = wrapped();
    const witness = () => witnessOf(S, 0n);
    return { row: SHORT, items: [item], faults: { witness }, off: ['projectionNorm'] };
  },
  /^projectionNorm: level 0/,
);

attack('no signature at all: s1 = s2 = 0 under the key of a stranger', () => {
  const { item } = stranger([]);
  return { row: SHORT, items: [item], faults: {}, off: ['F'], omit: ['F'] };
});
