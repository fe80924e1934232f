/** Measures the calls of a port. */
import type { PortCall } from '../events.ts';

/** Returns the port, with a callback after each method that returns a promise. */
export function timedPort<Port extends object>(
  port: Port,
  name: PortCall['port'],
  onCall: (call: PortCall) => void,
): Port {
  return timed(port, '', (verb, startMs, failed) =>
    onCall({ port: name, verb, durationMs: performance.now() - startMs, failed }),
  );
}

type Report = (verb: string, startMs: number, failed: boolean) => void;

function timed<T extends object>(target: T, prefix: string, report: Report): T {
  const made = new Map<PropertyKey, { readonly of: unknown; readonly value: unknown }>();
  const wrap = (name: string, value: unknown): unknown => {
    if (typeof value === 'object' && value !== null) return timed(value, `${name}.`, report);
    if (typeof value !== 'function') return value;
    // Called on the port itself, since a proxy has no access to private members.
    return (...args: unknown[]) => {
      const startMs = performance.now();
      const result: unknown = value.apply(target, args);
      if (!(result instanceof Promise)) return result;
      return result.then(
        (answer: unknown) => {
          report(name, startMs, false);
          return answer;
        },
        (error: unknown) => {
          report(name, startMs, true);
          throw error;
        },
      );
    };
  };
  // A proxy over the port itself could not replace the methods of a frozen one.
  return new Proxy({} as T, {
    has: (_, property) => property in target,
    get(_, property) {
      const value: unknown = Reflect.get(target, property, target);
      if (typeof property === 'symbol') return value;
      const known = made.get(property);
      if (known !== undefined && known.of === value) return known.value;
      const wrapped = wrap(prefix + property, value);
      made.set(property, { of: value, value: wrapped });
      return wrapped;
    },
  });
}
