/** Verifies a result file against a task file, without a service. */
import { counted, sizeText } from '../../../../wire/sizes.ts';
import type { App, View } from '../app.ts';
import { fill, h } from '../dom.ts';
import { dropZone, empty, lead, panel, view } from '../parts/controls.ts';
import { problemBox } from '../parts/problems.ts';
import { resultPanels } from '../parts/result.ts';

export function verifyView(app: App): View {
  const nothing =
    'Choose a result file, then the task file that it is about. Neither leaves this browser.';
  const outcome = view(panel('Verification', empty('seal', 'No result yet', nothing)));
  const problem = h('div');
  const zone = dropZone({
    label: 'Choose a result file, or drop it here',
    hint: 'The <id>.json of the service',
    onFile: (file) => void read(file),
  });
  const read = async (file: File) => {
    fill(problem);
    try {
      const result = await app.readResult(file);
      const size = `${counted(result.count, 'signature')}, ${sizeText(file.size)}`;
      zone.show(file.name, `${size}; choose another one`);
      const batch = app.submitted.get(result.processId ?? '') ?? null;
      fill(outcome, resultPanels(app, result, file, batch));
    } catch (error) {
      fill(problem, problemBox(error));
    }
  };
  const about =
    'All you need is the result and the list of keys and digests that it is about: no service, ' +
    'no API key.';
  const element = view(
    lead('Verify a result', about),
    panel('Result file', zone.element, problem),
    outcome,
  );
  return { title: 'Verify', element };
}
