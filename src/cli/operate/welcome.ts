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

function nextSteps({ base, serviceName, signingKey, keyFile }: Ready, key: string): string[] {
  const service = `${base}/v1/${serviceName}`;
  const lines = [
    '',
    keyFile === null
      ? 'This first start created an API key. It is shown only once:'
      : `This first start created an API key, in ${keyFile} (mode 0600).`,
    '',
    `  export FALCONRY_API_KEY=${keyFile === null ? key : `$(cat ${keyFile})`}`,
    '',
    'Next steps:',
    '',
  ];
  if (signingKey !== null) {
    lines.push(
      '  # sign a message, in hex',
      `  curl -s ${base}/v1/falcon/sign -H "Authorization: $FALCONRY_API_KEY" \\`,
      `    -H 'Content-Type: application/json' -d '{"digest":"0x68656c6c6f"}'`,
      '',
      '  # sign it and aggregate a batch of one',
      `  curl -s ${base}/v1/falcon/sign -H "Authorization: $FALCONRY_API_KEY" \\`,
      `    -H 'Content-Type: application/json' -d '{"digest":"0x68656c6c6f"}' |`,
      `  sed 's/.*/{"data":[&]}/' |`,
      `  curl -s ${service}/aggsign -H "Authorization: $FALCONRY_API_KEY" \\`,
      `    -H 'Content-Type: application/json' -d @-`,
      '',
    );
  }
  lines.push(
    '  # up to 1722 signatures in a file: get an upload URL, PUT the file there, notify',
    `  curl -s -X POST ${service}/aggsign/task -H "Authorization: $FALCONRY_API_KEY"`,
    `  curl -s -X PUT "$URL" -H 'Content-Type: application/json' -T task.json`,
    `  curl -s -X POST ${service}/aggsign/notify/$PROCESS_ID -H "Authorization: $FALCONRY_API_KEY"`,
    '',
    '  # list your tasks; result_path leads to the result',
    `  curl -s ${service}/tasks -H "Authorization: $FALCONRY_API_KEY"`,
    '',
  );
  return lines;
}
