import { rmSync } from 'node:fs';
import { after } from 'node:test';
import { onEachTopology, stackEnvironment } from '../harness/stacks/target.ts';
import { asking } from './extension-jobs/asking.ts';
import { ending } from './extension-jobs/ending.ts';
import { createCollections } from './extension-jobs/jobs-ground.ts';
import { copyExtensions } from './extensions/extensions-directory.ts';

/** Jobs of the extensions in `tests/extensions/jobs`, on one stack for each topology. */
const directory = copyExtensions('jobs');
stackEnvironment.SERVICE_EXTENSIONS_DIR = directory;
after(() => rmSync(directory, { recursive: true }));

onEachTopology('asking for jobs', async (t, target) => {
  await createCollections(await target.admin());
  await asking(t, target);
});
// Failing jobs are logged as errors. Tables refuse logged errors, so none follows.
onEachTopology('how jobs end', ending);
