import { rmSync } from 'node:fs';
import { after, test } from 'node:test';
import { createGround, startStack } from '../harness/stacks/stack.ts';
import { onEachTopology, stackEnvironment } from '../harness/stacks/target.ts';
import { erasureOfKept } from './erasure/kept-data.ts';
import { copyExtensions } from './extensions/extensions-directory.ts';

/** Erasures while extensions, and webhooks that are read, have the person's data. */
const directory = copyExtensions('erasing');
stackEnvironment.SERVICE_EXTENSIONS_DIR = directory;
after(() => rmSync(directory, { recursive: true }));

onEachTopology('an erasure while extensions have the data', (t, target) =>
  erasureOfKept(t, target, [target.guest], { hasMetrics: true }),
);

test('an erasure while extensions have the data (two replicas)', async (t) => {
  const environment = { SERVICE_EXTENSIONS_DIR: directory };
  await using ground = await createGround();
  await using one = await startStack({ topology: 'one', ground, environment });
  await using two = await startStack({ topology: 'one', beside: ground, environment });
  await erasureOfKept(t, { ...one, databaseUrl: ground.databaseUrl }, [one.guest, two.guest], { hasMetrics: false });
});
