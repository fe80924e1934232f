/**
 * Lets other work of the thread run. A timer would wait for one to four milliseconds; it is used
 * only if the host has no message channels.
 */
export function yieldToHost(): Promise<void> {
  if (typeof MessageChannel !== 'function') {
    return new Promise((resolve) => {
      setTimeout(resolve, 0);
    });
  }
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
