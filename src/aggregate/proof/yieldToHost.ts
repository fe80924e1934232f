/** Lets other work of the thread run. A timer would wait for a millisecond or four. */
export function yieldToHost(): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    port2.onmessage = () => {
      port1.close();
      port2.close();
      resolve();
    };
    port1.postMessage(0);
  });
}
