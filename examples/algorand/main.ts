/** Payments of ten Algorand accounts, signed one by one, then aggregated. */
import { aggregate, falcon1024, inspectAggregate, verifyAggregate } from 'falconry';
import {
  accountFromMnemonic,
  algorandAddress,
  bytesToSign,
  falcon1024Signer,
  mnemonicOf,
  verifyPqSignature,
} from 'falconry/algorand';
import { encodePayment } from './payment.ts';

const ACCOUNTS = 10;
const PAYMENTS = 100;

// Each account is 25 words, which people write down.
const phrases = Array.from({ length: ACCOUNTS }, () =>
  mnemonicOf(crypto.getRandomValues(new Uint8Array(32))),
);
const accounts = phrases.map((words) => {
  const { publicKey, secretKey, address, salt } = accountFromMnemonic(words);
  // algosdk accepts this signer too; it signs exactly the bytes it is given.
  return { publicKey, address, salt, signer: falcon1024Signer(secretKey) };
});

const signed = [];
for (let i = 0; i < PAYMENTS; i++) {
  const from = accounts[i % ACCOUNTS]!;
  const to = accounts[(i + 1) % ACCOUNTS]!.address;
  const transaction = encodePayment({
    from: from.address,
    to,
    amount: 1000 + i,
    firstRound: 1 + i,
  });
  const sig = await from.signer.falcon1024Signer(bytesToSign(transaction));
  // The field `pqsig` of the signed transaction.
  const pqsig = { sch: new TextEncoder().encode('f1'), slt: from.salt, pk: from.publicKey, sig };
  signed.push({ sender: from.address, transaction, pqsig });
}
for (const { signer } of accounts) signer.destroy();

const good = signed.every((each) => {
  return verifyPqSignature(each.pqsig, each.transaction, each.sender);
});
console.log(`${PAYMENTS} payments, each checked by itself: ${good}`);

// One aggregate of all. A deterministic signature is an ordinary one with a known salt.
const proof = await aggregate(
  signed.map(({ transaction, pqsig }) => ({
    publicKey: pqsig.pk,
    message: bytesToSign(transaction),
    signature: falcon1024.det.toRound3(pqsig.sig),
  })),
);
const before = signed.reduce((sum, { pqsig }) => sum + pqsig.sig.length, 0);
console.log(
  `${before} bytes of signatures, one ${inspectAggregate(proof).format}: ${proof.length}`,
);

// The verifier has transactions and keys; a key belongs to a sender if it has that address.
const statements = signed.map(({ sender, transaction, pqsig: { pk, slt } }) => {
  if (algorandAddress(pk, slt).address !== sender) throw new Error('the key of somebody else');
  return { publicKey: pk, message: bytesToSign(transaction) };
});
console.log(`checked as one: ${verifyAggregate(proof, statements)}`);
