/**
 * The frame of a long action: while it runs, a progress bar and a Stop button; afterwards, its
 * error.
 */
import { announce, button, type Child, fill, h } from '../dom.ts';
import { meter, whileBusy } from './controls.ts';
import { isStopped, problemBox } from './problems.ts';

export type Tell = (text: string, done: number, total: number) => void;

/** `places` are the elements for progress and errors; `run` does nothing while the action runs. */
export function longAction(options: {
  /** The name of the progress bar. */
  readonly label: string;
  /** The button that starts it: disabled meanwhile; gets the focus afterwards if Stop had it. */
  readonly control: HTMLButtonElement;
  /** Announced if the user stopped it. */
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
