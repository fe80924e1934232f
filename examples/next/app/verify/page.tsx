'use client';

import { falcon512 } from 'falconry/verify';
import { type FormEvent, useState } from 'react';

/** Returns the bytes of hex digits, with or without `0x`; null for any other text. */
function bytesOf(text: string): Uint8Array | null {
  const hex = text.trim().replace(/^0x/, '');
  if (!/^([0-9a-f]{2})*$/i.test(hex)) return null;
  return Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
}

/** Verifies a signature in the browser; nothing is sent. */
export default function Verify() {
  const [verdict, setVerdict] = useState('');
  const check = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (name: string) => String(form.get(name));
    const [signature, publicKey] = [bytesOf(text('signature')), bytesOf(text('publicKey'))];
    const message = new TextEncoder().encode(text('message'));
    const valid = signature && publicKey && falcon512.verify(signature, message, publicKey);
    setVerdict(valid ? 'valid' : 'NOT VALID');
  };
  return (
    <form onSubmit={check}>
      <label>
        Message <input name="message" />
      </label>
      <label>
        Signature <textarea name="signature" />
      </label>
      <label>
        Public key <textarea name="publicKey" />
      </label>
      <button type="submit">Verify</button>
      <output>{verdict}</output>
    </form>
  );
}
