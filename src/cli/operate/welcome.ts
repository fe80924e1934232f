import { SERVICE_OPTIONS } from '../../middleware/options/optionTable.ts';
import { fallbackOf } from '../../shared/optionRows.ts';

const DEFAULT_NAME = fallbackOf(SERVICE_OPTIONS.serviceName);

/** The text that `falconry serve` prints when it is ready. */
export interface Ready {
  /** Where it listens: `http://127.0.0.1:8787`. */
  readonly address: string;
  /** Where clients reach it. */
  readonly base: string;
  /** Null with a database. */
  readonly dataDirectory: string | null;
  /** The database and the bucket that hosts share, if there are any; without passwords. */
  readonly database: string | null;
  readonly blobs: string | null;
  readonly serviceName: string;
  /** The file of the signing key; null if signing is off. */
  readonly signingKey: string | null;
  readonly ui: boolean;
  /** The API key that was just created, to be shown once. */
  readonly key: string | null;
  /** The file that it was written to instead, if it must not be shown. */
  readonly keyFile: string | null;
  /** A link to the page that contains the key, if it may be shown. */
  readonly link: string | null;
}

/** The text; after a first start it shows the new key and the next steps. */
export function welcome(ready: Ready): string {
  const { address, base, dataDirectory, database, blobs, signingKey, ui, key } = ready;
  const lines = [`Falconry is listening on ${address}`];
  if (dataDirectory !== null) lines.push(`  data     ${dataDirectory}`);
  if (database !== null) lines.push(`  database ${database}`);
  if (blobs !== null) lines.push(`  files    ${blobs}`);
  if (ui) lines.push(`  page     ${base}/v1/ui`);
  if (signingKey !== null) lines.push(`  signing  ${signingKey} (for testing)`);
  const place = dataDirectory === null ? '--database URL' : `--data ${dataDirectory}`;
  if (key === null) lines.push('', `More API keys: falconry keys create --name NAME ${place}`, '');
  else lines.push(...nextSteps(ready, key));
  return lines.join('\n');
}

/** Commands that run as they are: each variable and file is set or made by one before it. */
function nextSteps({ base, serviceName, signingKey, keyFile, link }: Ready, key: string): string[] {
  const lines = [
    '',
    keyFile === null
      ? 'This first start created an API key. It is shown only once:'
      : `This first start created an API key, in ${keyFile} (mode 0600).`,
    '',
    `  export FALCONRY_API_KEY=${keyFile === null ? key : `$(cat ${keyFile})`}`,
    `  export FALCONRY_URL=${base}`,
  ];
  if (serviceName !== DEFAULT_NAME) lines.push(`  export FALCONRY_SERVICE_NAME=${serviceName}`);
  lines.push('');
  if (link !== null) lines.push('Open the page with this key:', '', `  ${link}`, '');
  lines.push('Next steps:', '');
  if (signingKey !== null) {
    lines.push(
      '  # sign a message, in hex',
      '  curl -s $FALCONRY_URL/v1/falcon/sign -H "Authorization: $FALCONRY_API_KEY" \\',
      `    -H 'Content-Type: application/json' -d '{"digest":"0x68656c6c6f"}'`,
      '',
    );
  }
  lines.push(
    '  # sign with a key of your own, and have the signature aggregated',
    '  falconry keygen -o key.json',
    '  echo hello > message.txt',
    '  falconry sign --key key.json message.txt -o task.json',
    '  falconry submit task.json -o result.json',
    '',
    '  # list your tasks',
    `  curl -s $FALCONRY_URL/v1/${serviceName}/tasks -H "Authorization: $FALCONRY_API_KEY"`,
    '',
  );
  return lines;
}
