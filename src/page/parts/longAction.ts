/** The frame of a long action: while it runs, a bar and a way to stop it; afterwards, what went wrong. */
import { announce, button, type Child, fill, h } from '../dom.ts';
import { meter, whileBusy } from './controls.ts';
import { isStopped, problemBox } from './problems.ts';

export type Tell = (text: string, done: number, total: number) => void;

/** `places` go where the progress and the problem are to be seen; `run` does nothing while it runs already. */
export function longAction(options: {
  /** Names the bar. */
  readonly label: string;
  /** What starts it: out of use meanwhile, and focused again afterwards if Stop had the focus. */
  readonly control: HTMLButtonElement;
  /** Said when somebody has stopped it, which is no problem. */
  readonly stopped: string;
  readonly work: (signal: AbortSignal, tell: Tell) => Promise<void>;
}): { places: Child; run(): Promise<void> } {
  const { control } = options;
  let controller: AbortController | undefined;
  const bar = meter(options.label);
  const stop = button('Stop', () => controller?.abort());
  const busy = h(
    'div',
    { class: 'stack', hidden: true },
    bar.element,
    h('div', { class: 'row' }, stop),
  );
  const problem = h('div');

  const work = async () => {
    fill(problem);
    controller = new AbortController();
    busy.hidden = false;
    try {
      await options.work(controller.signal, bar.set);
    } catch (error) {
      if (isStopped(error)) announce(options.stopped);
      else fill(problem, problemBox(error));
    } finally {
      controller = undefined;
      if (busy.contains(document.activeElement)) control.focus();
      busy.hidden = true;
    }
  };
  return { places: [busy, problem], run: () => whileBusy(control, work) };
}
