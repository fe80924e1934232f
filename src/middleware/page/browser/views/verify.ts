/** Verifies a result file against a task file. */
import { counted, sizeText } from '../../../../wire/sizes.ts';
import type { App, View } from '../app.ts';
import { fill, h } from '../dom.ts';
import { dropZone, empty, lead, panel, view } from '../parts/controls.ts';
import { problemBox } from '../parts/problems.ts';
import { readResult, resultPanels } from '../parts/result.ts';

export function verifyView(app: App): View {
  const nothing = 'Choose a result file, then its task file. Neither leaves this browser.';
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
      const result = await readResult(app, file);
      const size = `${counted(result.count, 'signature')}, ${sizeText(file.size)}`;
      zone.show(file.name, `${size}; choose another one`);
      fill(outcome, resultPanels(app, result, file));
    } catch (error) {
      fill(problem, problemBox(error));
    }
  };
  const about =
    'All you need is the result file and the list of its keys and digests: no service, no API key.';
  const element = view(
    lead('Verify a result', about),
    panel('Result file', zone.element, problem),
    outcome,
  );
  return { title: 'Verify', element };
}
