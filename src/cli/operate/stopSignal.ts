/** Signals that end a server. */

/** The first signal shuts down; the second, by the system's default, ends the process. */
export function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((done) => {
    const signals = ['SIGTERM', 'SIGINT'] as const;
    const onSignal = (signal: NodeJS.Signals) => {
      for (const name of signals) process.off(name, onSignal);
      done(signal);
    };
    for (const name of signals) process.on(name, onSignal);
  });
}
