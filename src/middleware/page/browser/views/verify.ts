/** Verifies a result file against a task file, without a service. */
import { sizeText } from '../../../../wire/sizes.ts';
import type { App, View } from '../app.ts';
import { fill, h } from '../dom.ts';
import { counted } from '../format.ts';
import { dropZone, empty, lead, panel, view } from '../parts/controls.ts';
import { problemBox } from '../parts/problems.ts';
import { resultPanels } from '../parts/resultPanel.ts';

export function verifyView(app: App): View {
  const outcome = view();
  const problem = h('div');
  const zone = dropZone({
    label: 'Choose a result file, or drop it here',
    hint: 'The <id>.json of the service',
    onFile: (file) => void read(file),
  });
  const read = async (file: File) => {
    fill(problem);
    try {
      const result = await app.worker.call('readResult', { file });
      zone.show(
        file.name,
        `${counted(result.count, 'signature')}, ${sizeText(file.size)}; choose another one`,
      );
      const batch =
        result.processId === null ? null : (app.submitted.get(result.processId) ?? null);
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
      'Choose a result file, then the task file that it is about. Neither leaves this browser.',
    ),
  );
  fill(outcome, nothing);
  const element = view(
    lead(
      'Verify a result',
      'All you need is the result and the list of keys and digests that it is about: no service, ' +
        'no API key.',
    ),
    panel('Result file', zone.element, problem),
    outcome,
  );
  return { title: 'Verify', element };
}
