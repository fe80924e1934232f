'use client';

import { falcon512, verifyAggregate } from 'falconry';
import { useState } from 'react';

const SIGNATURES = 100;

/** Signs messages in the browser, lets the server aggregate them, and verifies the result. */
async function signAndCheck(): Promise<string> {
  const { publicKey, secretKey } = falcon512.keygen();
  const items = Array.from({ length: SIGNATURES }, (_, i) => {
    const message = new TextEncoder().encode(`message ${i}`);
    return { publicKey, message, signature: falcon512.sign(message, secretKey) };
  });
  const hex = (bytes: Uint8Array) =>
    Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  const body = items.map(({ publicKey, message, signature }) => {
    return { publicKey: hex(publicKey), message: hex(message), signature: hex(signature) };
  });
  const answer = await fetch('/aggregate', { method: 'POST', body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(await answer.text());
  const aggregate = new Uint8Array(await answer.arrayBuffer());
  const signed = items.reduce((sum, { signature }) => sum + signature.length, 0);
  const verdict = verifyAggregate(aggregate, items) ? 'valid' : 'NOT VALID';
  return `${SIGNATURES} signatures of ${signed} bytes, ${aggregate.length} as one: ${verdict}`;
}

export function Batch() {
  const [said, say] = useState('');
  const run = () => {
    say('…');
    signAndCheck().then(say, (error: unknown) => say(String(error)));
  };
  return (
    <>
      <button type="button" onClick={run}>
        Sign {SIGNATURES} messages
      </button>
      <output>{said}</output>
    </>
  );
}
