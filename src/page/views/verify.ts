/** Verifying without a service: a result file and a task file, both of the user's own. */
import type { App, View } from '../app.ts';
import { fill, h } from '../dom.ts';
import { bytes, counted } from '../format.ts';
import { dropZone, empty, lead, panel } from '../parts/controls.ts';
import { problemBox } from '../parts/problems.ts';
import { resultPanels } from '../parts/resultPanel.ts';

export function verifyView(app: App): View {
  const outcome = h('div', { class: 'view' });
  const problem = h('div');
  const zone = dropZone({
    label: 'Choose a result file, or drop it here',
    hint: 'As the service gives it: <id>.json',
    onFile: (file) => void read(file),
  });
  const read = async (file: File) => {
    fill(problem);
    try {
      const result = await app.worker.call('readResult', { file });
      zone.show(
        file.name,
        `${counted(result.count, 'signature')}, ${bytes(file.size)}; choose another one`,
      );
      const batch = (result.processId && app.submitted.get(result.processId)) || null;
      fill(outcome, resultPanels(app, { result, file, name: file.name, batch }));
    } catch (error) {
      fill(problem, problemBox(error));
    }
  };
  const nothing = panel(
    'Verification',
    empty(
      'seal',
      'No result yet',
      'Choose a result file; then the task file that it is about. Neither leaves this browser.',
    ),
  );
  fill(outcome, nothing);
  const element = h(
    'div',
    { class: 'view' },
    lead(
      'Verify a result',
      'A result and the list of keys and digests that it is about are all that it takes: no service, no API key.',
    ),
    panel('Result file', zone.element, problem),
    outcome,
  );
  return { title: 'Verify', element };
}
