/**
 * Lets other work of the thread run. Uses a timer, which would wait for one to four milliseconds,
 * only on hosts without message channels.
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
